import { describe, test } from "vitest";
import { stateConformance } from "../../src/testing/index.ts";
import { openRemoteState } from "./remote-world.ts";

const namespaces = ["default", "controller", "system", "runtime"];

describe("a State behind our server and our client [state 69] [transport T1]", () => {
  stateConformance({ test }, { newState: openRemoteState, namespaces });
});
