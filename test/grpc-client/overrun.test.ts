import { expect, test } from "vitest";
import { connect, server } from "../../src/grpc/index.ts";
import { MemoryState } from "../../src/memory/index.ts";
import { eventually, InterceptedState, Int, intToStrController, Str } from "../../src/testing/index.ts";
import { startEngine } from "../engine-fixture.ts";
import { openDirectory } from "../grpc-transport/fixture.ts";

test("on a remote State, updating ten inputs for 2,000 rounds does not overrun the default history [engine T-16]", async () => {
  const rounds = 2_000;
  const types = [Int, Str];
  const memory = new MemoryState({ types, overrun: "error" });
  let opened = 0;
  const core = new InterceptedState(memory, {
    before: ({ operation }) => void (operation.startsWith("watch") && opened++),
  });
  await using directory = await openDirectory();
  await using serving = server(core, { types });
  const address = `unix:${directory.path("s")}`;
  await serving.listen(address);
  await using remote = connect(address, { types });
  await using engine = await startEngine(remote, [intToStrController("default", "default")]);
  const ids = Array.from({ length: 10 }, (_, index) => String(index));
  await Promise.all(ids.map((id, value) => memory.create(Int.create(id, { value }))));
  await eventually(async () => expect((await memory.get(Str, "9")).spec.value).toBe("9"));
  const watches = opened;
  for (let round = 0; round < rounds; round++) {
    await Promise.all(ids.map((id) => memory.updateWithConflicts(Int.ref(id), () => ({ value: round }))));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await eventually(async () => {
    const strs = await memory.list(Str);
    expect(strs.map(({ spec }) => spec.value)).toEqual(ids.map(() => String(rounds - 1)));
  });
  // A watch that had lost its place would have ended, and another one would have been opened.
  expect(opened).toBe(watches);
  await engine.stop();
});
