import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openState } from "../src/cli/connect/open-state.ts";
import { runOn, type FakeHost, type Outcome } from "../test/cli-fixture.ts";
import { GoServerProgram, hasGo, type GoServer } from "./go-program.ts";

const MANIFESTS = `metadata: { namespace: meta, type: ResourceDefinitions.meta.cosi.dev, id: guests.hotel.example }
spec:
  type: Guests.hotel.example
  displayType: Guest
  defaultNamespace: house
  aliases: [g]
  allAliases: [guests, guest, g]
  printColumns: [{ name: Room, jsonPath: "{.room}" }]
---
metadata: { namespace: house, type: Guests.hotel.example, id: ada, labels: { floor: "1" } }
spec: { room: 7 }
`;

describe.skipIf(!hasGo)("the command line on the Go implementation's server", () => {
  let program: GoServerProgram;
  let server: GoServer;
  beforeAll(async () => {
    program = await GoServerProgram.build();
    server = await program.start();
  }, 120_000);
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await program[Symbol.asyncDispose]();
  });

  async function run(line: string, input = "", host: FakeHost = {}): Promise<Outcome> {
    const opened: AsyncDisposable[] = [];
    try {
      return await runOn(undefined, [...line.split(" "), "--endpoint", server.address], {
        readStdin: async () => input,
        open: async (endpoint) => {
          const state = await openState(endpoint, { isTerminal: false, write: async () => {} });
          opened.push(state);
          return state;
        },
        ...host,
      });
    } finally {
      for (const state of opened) await state[Symbol.asyncDispose]();
    }
  }

  test("writes, shows, watches and deletes, types by their definitions included", async () => {
    const applied = await run("apply -f -", MANIFESTS);
    expect(applied).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("/ada created") });
    expect((await run("apply -f -", MANIFESTS)).stdout).toMatch(/unchanged\n.*unchanged\n$/);
    expect((await run("get g")).stdout).toMatch(/ROOM\nhouse +Guest +ada +1 +7\n$/);
    expect((await run("get guest ada -o yaml")).stdout).not.toContain("1970");
    expect((await run("label g ada floor- vip=yes")).stdout).toContain("labeled");
    expect((await run("apply -f -", MANIFESTS.replace("room: 7", "room: 8"))).stdout).toContain("/ada configured");
    expect((await run("get g -o jsonpath={.spec.room}")).stdout).toBe("8\n");

    const stop = new AbortController();
    const watched = await run("watch g -o json", "", {
      signal: stop.signal,
      onOutput: (text) => {
        if (text.includes("destroyed")) stop.abort();
        else if (text.endsWith('{"event":"bootstrapped"}\n')) void run("delete g ada");
      },
    });
    const events = watched.stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { event: string }).event);
    expect(events).toEqual(["created", "bootstrapped", "updated", "destroyed"]);
    expect(await run("get g ada")).toMatchObject({ code: 3 });
  });

  test("a stale version, a foreign owner and pending finalizers are conflicts", async () => {
    const guest = (id: string, rest = ""): string =>
      `metadata: { namespace: house, type: Guests.hotel.example, id: ${id} ${rest} }\nspec: { room: 1 }\n`;
    await run("apply --owner Porter -f -", guest("owned"));
    expect(await run("label Guests.hotel.example owned a=b -n house")).toMatchObject({ code: 4 });
    await run("apply -f -", guest("held", ", finalizers: [Porter]"));
    expect(await run("delete Guests.hotel.example held -n house --timeout 300ms")).toMatchObject({ code: 6 });
    const stale = await run("apply -f -", guest("held", ', version: 9, labels: { a: "1" }'));
    expect(stale).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/^stdin:1:1: /) });
  });
});
