import { expect, test } from "vitest";
import { checkToken, metadataOf } from "./connect.ts";

test.each(["unix:///run/state.sock", "localhost:443", "127.0.0.1:443", "[::1]:443"])(
  "a token may go to %s, which others cannot read",
  (endpoint) => expect(() => checkToken(endpoint, { token: "secret" })).not.toThrow(),
);

test("a token goes over a network in TLS only", () => {
  expect(() => checkToken("example.dev:443", { token: "secret" })).toThrow(
    "a token is only sent over TLS, or within one machine: give the option tls to connect to example.dev:443",
  );
  expect(() => checkToken("example.dev:443", { token: "secret", tls: {} })).not.toThrow();
  expect(() => checkToken("example.dev:443", {})).not.toThrow();
});

test("a token is asked for at each call, and joins the metadata of the caller", () => {
  let count = 0;
  const metadata = metadataOf({ token: () => `t${++count}`, metadata: { who: "me" } });
  expect(metadata).toBeTypeOf("function");
  const each = metadata as () => unknown;
  expect(each()).toEqual({ who: "me", authorization: "Bearer t1" });
  expect(each()).toEqual({ who: "me", authorization: "Bearer t2" });
  expect(metadataOf({ metadata: { who: "me" } })).toEqual({ who: "me" });
});
