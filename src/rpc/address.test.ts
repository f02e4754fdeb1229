import { describe, expect, test } from "vitest";
import { formatAddress, isLoopback, parseAddress } from "./address.ts";

describe("addresses", () => {
  test.each([
    ["unix:/run/x.sock", { kind: "unix", path: "/run/x.sock" }],
    ["unix:///run/x.sock", { kind: "unix", path: "/run/x.sock" }],
    ["unix:x.sock", { kind: "unix", path: "x.sock" }],
    ["tcp://example.com:80", { kind: "tcp", host: "example.com", port: 80 }],
    ["tcp:127.0.0.1:0", { kind: "tcp", host: "127.0.0.1", port: 0 }],
    ["localhost:65535", { kind: "tcp", host: "localhost", port: 65_535 }],
    ["[::1]:7", { kind: "tcp", host: "::1", port: 7 }],
  ])("%s is understood, and written in a form that is understood again", (text, address) => {
    expect(parseAddress(text)).toEqual(address);
    expect(parseAddress(formatAddress(parseAddress(text)))).toEqual(address);
  });

  test.each([
    "",
    "unix:",
    "unix:a\0b",
    "unix://x.sock",
    "host",
    "host:",
    ":80",
    "host:65536",
    "host:1e3",
    "http://host:80",
    "::1:80",
    "[x]:80",
    "a b:80",
    "u@h:1",
    "h:80/x",
  ])("%j is no address", (text) => {
    expect(() => parseAddress(text)).toThrow("is no address; it may be unix:PATH");
  });

  test("a path that the system would cut is refused with its length", () => {
    expect(() => parseAddress(`unix:/${"x".repeat(200)}`)).toThrow(/at most \d+ bytes, this one has 201/);
  });

  test.each([
    ["127.0.0.1", true],
    ["127.9.9.9", true],
    ["::1", true],
    ["::ffff:127.0.0.1", true],
    ["0.0.0.0", false],
    ["::", false],
    ["10.0.0.1", false],
    ["128.0.0.1", false],
    ["localhost", false],
  ])("%s: loopback %s", (ip, expected) => {
    expect(isLoopback(ip)).toBe(expected);
  });

  test.each([undefined, null, 7070, {}])("%s is no address either", (value) => {
    expect(() => parseAddress(value as never)).toThrow(/is no address; it may be unix:PATH/u);
  });
});
