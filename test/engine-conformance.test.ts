import { describe, test } from "vitest";
import { MemoryState } from "../src/memory/index.ts";
import { AccessFilter, wrapState, type CoreState } from "../src/state/index.ts";
import { runtimeConformance, type RuntimeVariant } from "../src/testing/index.ts";

const VARIANTS: readonly RuntimeVariant[] = ["defaults", "rateLimited", "cached"];
const STATES: Readonly<Record<string, () => CoreState>> = {
  "the in-memory State": () => new MemoryState(),
  "the in-memory State behind a filter that allows everything": () =>
    wrapState(new AccessFilter(new MemoryState(), () => undefined)),
};

// The tests of one suite have nothing in common; that no timer is left after them all is checked for the file.
for (const [name, newState] of Object.entries(STATES)) {
  for (const variant of VARIANTS) {
    describe.concurrent(`the engine on ${name}, ${variant}`, () => {
      runtimeConformance({ test }, { newState, variant });
    });
  }
}
