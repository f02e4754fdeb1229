import { describe, test } from "vitest";
import { stateConformance } from "../../src/testing/index.ts";
import { openRemoteState } from "./remote-world.ts";

const namespaces = ["default", "controller", "system", "runtime"];

describe("a State behind our server and our client, on a session [state 69] [transport T1] [transport Z8]", () => {
  stateConformance({ test }, { newState: () => openRemoteState(), namespaces });
});

describe("a State behind our server and our client, each call on a stream of its own", () => {
  stateConformance({ test }, { newState: () => openRemoteState(false), namespaces });
});
