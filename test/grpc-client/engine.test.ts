import { describe, test } from "vitest";
import { runtimeConformance, type RuntimeVariant } from "../../src/testing/index.ts";
import { openRemoteState } from "./remote-world.ts";

const VARIANTS: readonly RuntimeVariant[] = ["defaults", "rateLimited", "cached"];

for (const variant of VARIANTS) {
  describe.concurrent(`the engine on a remote State, on a session [transport Z8], ${variant}`, () => {
    runtimeConformance({ test }, { newState: () => openRemoteState(), variant });
  });
}
