import { expect, test } from "vitest";
import { MemoryNamespace } from "../memory/index.ts";
import { StateError } from "../resource/index.ts";
import { Int } from "../testing/index.ts";
import { AccessFilter, type Access } from "./views/access-filter.ts";
import { getOrNull } from "./get-or-null.ts";
import { NamespaceRouter } from "./views/namespace-router.ts";

const ref = Int.ref("one");

test("getOrNull asks a store that can answer without an error", async () => {
  const get = () => Promise.reject(new Error("not needed"));
  expect(await getOrNull({ get, getOrNull: () => Promise.resolve(undefined) }, ref)).toBeUndefined();
});

test("getOrNull understands the error of a store that cannot, and passes every other error on", async () => {
  const failing = (error: Error) => ({ get: () => Promise.reject(error) });
  const notFound = new StateError("not_found", "no", { pointer: ref });
  expect(await getOrNull(failing(notFound), ref)).toBeUndefined();
  expect(await getOrNull(failing(new Error("remote", { cause: notFound })), ref)).toBeUndefined();
  const down = new StateError("unavailable", "down");
  await expect(getOrNull(failing(down), ref)).rejects.toBe(down);
});

test("getOrNull goes through router and filter, which asks for the right to get", async () => {
  const asked: Access[] = [];
  const router = new NamespaceRouter((namespace) => new MemoryNamespace(namespace));
  const filter = new AccessFilter(router, (access) => void asked.push(access));
  expect(await filter.getOrNull(ref)).toBeUndefined();
  const created = await router.create(Int.create("one", { value: 1 }));
  expect(await filter.getOrNull(ref)).toBe(created);
  expect(asked).toEqual(Array(2).fill({ ...ref, verb: "get" }));
  const reason = new Error("enough");
  await expect(filter.getOrNull(ref, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await expect(router.getOrNull(ref, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  await filter[Symbol.asyncDispose]();
  await expect(router.getOrNull(ref)).rejects.toThrow(expect.objectContaining({ code: "unavailable" }));
});
