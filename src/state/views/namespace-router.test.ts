import { describe, expect, test } from "vitest";
import { MemoryNamespace } from "../../memory/index.ts";
import { Int } from "../../testing/index.ts";
import { NamespaceRouter } from "./namespace-router.ts";
import { wrapState } from "../wrap-state.ts";

const [a, b] = [Int.in("a"), Int.in("b")];

/** A store that says that it has to be kept. */
const held = (store: MemoryNamespace): MemoryNamespace => Object.assign(store, { usage: () => "held" as const });

describe("NamespaceRouter", () => {
  test("keeps namespaces apart: resources, histories and watches", async () => {
    await using state = wrapState(new NamespaceRouter((namespace) => new MemoryNamespace(namespace)));
    await using watch = await state.watchKind(b);
    await state.create(a.create("one", { value: 1 }));
    await state.create(b.create("one", { value: 2 }));
    expect((await state.get(a, "one")).spec.value).toBe(1);
    expect((await watch.next()).value?.resource).toBe(await state.get(b, "one"));
    await state.destroy(a.ref("one"));
    expect(await state.list(a)).toHaveLength(0);
    expect(await state.list(b)).toHaveLength(1);
    expect((await state.update(await state.get(b, "one"))).metadata.version).toBe("2");
    for await (const event of await state.watch(a.ref("one"))) {
      expect(event.type).toBe("Destroyed");
      break;
    }
    for await (const batch of await state.watchKindBatches(b, { bootstrap: true })) {
      expect(batch.map((event) => event.type)).toEqual(["Created", "Bootstrapped"]);
      break;
    }
  });

  test("lets no store go while a call on it is under way", async () => {
    const answer = Promise.withResolvers<void>();
    const built: string[] = [];
    const router = new NamespaceRouter((namespace) => {
      built.push(namespace);
      const store = new MemoryNamespace(namespace);
      const list = store.list.bind(store);
      return Object.assign(store, {
        list: (...args: Parameters<typeof list>) => answer.promise.then(() => list(...args)),
      });
    });
    const slow = router.list(a);
    await router.getOrNull?.(a.ref("one"));
    await router.getOrNull?.(a.ref("two"));
    expect(built).toEqual(["a"]);
    answer.resolve();
    await slow;
    await router.getOrNull?.(a.ref("one"));
    expect(built).toEqual(["a", "a"]);
  });

  test("keeps a store that cannot say whether it holds something", async () => {
    const built: string[] = [];
    const router = new NamespaceRouter((namespace) => {
      built.push(namespace);
      return Object.assign(new MemoryNamespace(namespace), { usage: undefined });
    });
    await router.list(a);
    await router.list(a);
    expect(built).toEqual(["a"]);
  });

  test("looks at two stores that were only watched for each that it adds, however many there are", async () => {
    let looks = 0;
    const usage = () => (looks++, "watched" as const);
    const router = new NamespaceRouter((namespace) => Object.assign(new MemoryNamespace(namespace), { usage }));
    for (let i = 0; i < 20; i++) await router.list({ ...a, namespace: `n${i}` });
    looks = 0;
    await router.list(b);
    expect(looks).toBe(3);
  });

  test("makes one store for a namespace that holds something, when it is first named", async () => {
    const built: string[] = [];
    const router = new NamespaceRouter((namespace) => {
      built.push(namespace);
      return held(new MemoryNamespace(namespace));
    });
    expect(built).toEqual([]);
    await Promise.all([router.list(a), router.get(a.ref("x")).catch(() => undefined), router.list(b), router.list(a)]);
    await router.list(Int.in("__proto__"));
    await router.list(Int.in("__proto__"));
    expect(built).toEqual(["a", "b", "__proto__"]);
    await router[Symbol.asyncDispose]();
  });

  test("fails where the builder refuses a namespace, and asks it again the next time", async () => {
    let closed = true;
    const refusal = new Error("no such namespace");
    const router = new NamespaceRouter((namespace) => {
      if (closed) throw refusal;
      return new MemoryNamespace(namespace);
    });
    await expect(router.list(a)).rejects.toBe(refusal);
    await expect(router.create(a.create("one", { value: 1 }))).rejects.toBe(refusal);
    closed = false;
    expect(await router.list(a)).toHaveLength(0);
    await router[Symbol.asyncDispose]();
  });

  test("refuses what is no namespace", async () => {
    const router = new NamespaceRouter(() => expect.unreachable());
    for (const namespace of [undefined, null, 1]) {
      await expect(router.list({ namespace, type: "x" } as never)).rejects.toThrow(
        expect.objectContaining({ code: "invalid" }),
      );
    }
  });

  test("offers no shortcuts", () => {
    const router = new NamespaceRouter((namespace) => new MemoryNamespace(namespace));
    expect("teardown" in router || "teardownAndDestroy" in router).toBe(false);
  });

  test("disposes every store once, and opens none afterwards", async () => {
    const disposed: string[] = [];
    const router = new NamespaceRouter((namespace) =>
      Object.assign(held(new MemoryNamespace(namespace)), {
        [Symbol.asyncDispose]: () => {
          disposed.push(namespace);
          return namespace === "c" ? Promise.resolve() : Promise.reject(new Error(`${namespace} is stuck`));
        },
      }),
    );
    for (const namespace of ["a", "b", "c"]) await router.list(Int.in(namespace));
    const expected = expect.objectContaining({ errors: [new Error("a is stuck"), new Error("b is stuck")] });
    await expect(router[Symbol.asyncDispose]()).rejects.toEqual(expected);
    await expect(router[Symbol.asyncDispose]()).rejects.toEqual(expected);
    expect(disposed).toEqual(["a", "b", "c"]);
    await expect(router.list(Int.in("d"))).rejects.toThrow(expect.objectContaining({ code: "unavailable" }));
    expect(disposed).toEqual(["a", "b", "c"]);
  });

  test("passes the one failure of a disposal on as it is", async () => {
    const stuck = new Error("stuck");
    const failing = { [Symbol.asyncDispose]: () => Promise.reject(stuck) };
    const router = new NamespaceRouter((namespace) => Object.assign(held(new MemoryNamespace(namespace)), failing));
    await router.list(a);
    await expect(router[Symbol.asyncDispose]()).rejects.toBe(stuck);
  });
});
