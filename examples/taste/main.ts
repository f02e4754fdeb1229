import { defineResource, MemoryState, Runtime, shape, transform } from "homeostat";

const Int = defineResource({ type: "Ints.taste.example.dev", spec: shape({ value: "integer" }) });
const Str = defineResource({ type: "Strs.taste.example.dev", spec: shape({ value: "string" }) });

const intToStr = transform({
  name: "IntToStrController",
  input: Int,
  output: Str,
  transform: ({ input }) => ({ value: String(input.spec.value) }),
});

const state = new MemoryState({ types: [Int, Str] });
const runtime = new Runtime(state, { controllers: [intToStr], metrics: true });
const stop = new AbortController();
const running = runtime.run({ signal: stop.signal });

await state.create(Int.create("answer", { value: 42 }));
console.log((await state.watchFor(Str.ref("answer"), { events: ["Created"] })).spec); // { value: '42' }
stop.abort();
await running;
