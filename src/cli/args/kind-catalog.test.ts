import { describe, expect, test } from "vitest";
import { MemoryState } from "../../memory/index.ts";
import { createResource, definitionOf, defineResource, OpaqueSpec, shape } from "../../resource/index.ts";
import { closestOf } from "./closest-name.ts";
import { loadKinds, type KindCatalog } from "./kind-catalog.ts";

const spec = shape({});
const TYPES = [
  defineResource({ type: "Services.supervisor.example.dev", spec, aliases: ["svc"], columns: { A: "$.a" } }),
  defineResource({ type: "ServiceStatuses.supervisor.example.dev", namespace: "status", spec, sensitive: true }),
  defineResource({ type: "Routes.net.example.dev", spec }),
  defineResource({ type: "Routes.road.example.dev", spec }),
];

async function catalog(): Promise<KindCatalog> {
  const state = new MemoryState();
  for (const type of TYPES) await state.create(await definitionOf(type));
  return loadKinds(state, new AbortController().signal);
}

describe("KindCatalog", () => {
  test.each([
    ["Services.supervisor.example.dev", 0],
    ["services.SUPERVISOR.example.dev", 0],
    ["services", 0],
    ["Service", 0],
    ["SVC", 0],
    ["services.supervisor", 0],
    ["sv", 0],
    ["services.su", 0],
    ["ss", 1],
    ["servicest", 1],
    ["routes.net", 2],
    ["routes.r", 3],
  ])("finds %s", async (name, index) => {
    expect((await catalog()).find(name).type).toBe(TYPES[index]?.type);
  });

  test("knows what the definition says", async () => {
    expect((await catalog()).find("svc")).toMatchObject({
      displayType: "Service",
      defaultNamespace: "default",
      columns: [{ name: "A", jsonPath: "{.a}" }],
      isSensitive: false,
      isDescribed: true,
    });
    expect((await catalog()).find("ss")).toMatchObject({ defaultNamespace: "status", isSensitive: true });
  });

  test.each([
    ["route", ["Routes.net.example.dev", "Routes.road.example.dev"]],
    ["se", ["ServiceStatuses.supervisor.example.dev", "Services.supervisor.example.dev"]],
  ])("%s could be several", async (name, candidates) => {
    const known = await catalog();
    expect(() => known.find(name)).toThrow(`could be any of ${candidates.join(", ")}`);
  });

  test("suggests what was meant, or says what there is", async () => {
    const known = await catalog();
    expect(() => known.find("servcie")).toThrow("did you mean service?");
    expect(() => known.find("volume")).toThrow("there are route, service, servicestatus");
    expect(() => known.find("")).toThrow("the type is empty");
  });

  test("a full name that nobody described stands for itself", async () => {
    expect((await catalog()).find("Guests.hotel.example")).toMatchObject({
      type: "Guests.hotel.example",
      displayType: "Guests",
      defaultNamespace: "default",
      isDescribed: false,
    });
  });

  test("definitions of peers that make no sense are passed over, half of one is made the best of", async () => {
    const state = new MemoryState();
    const yaml = [
      "[]",
      "type: 7",
      "displayType: X",
      "type: Disks.hw.example\nallAliases: [disk, 7, null]\nprintColumns: [{ name: A }, 5, { name: B, jsonPath: '{.b}' }]",
    ];
    for (const [i, text] of yaml.entries()) {
      const pointer = { namespace: "meta", type: "ResourceDefinitions.meta.cosi.dev", id: String(i) };
      await state.create(createResource(pointer, new OpaqueSpec({ yaml: text })));
    }
    const { kinds } = await loadKinds(state, new AbortController().signal);
    expect(kinds).toEqual([
      {
        type: "Disks.hw.example",
        displayType: "Disks",
        defaultNamespace: "default",
        names: ["disks.hw.example", "disk", "disks"],
        columns: [{ name: "B", jsonPath: "{.b}" }],
        isSensitive: false,
        isDescribed: true,
      },
    ]);
  });
});

describe("closestOf", () => {
  test.each([
    ["servcie", "service"],
    ["svcs", "svc"],
    ["rout", "route"],
    ["xyz", undefined],
    ["", undefined],
  ])("%s → %s", (name, expected) => {
    expect(closestOf(name, ["service", "route", "svc"])).toBe(expected);
  });

  test("a name of any length takes no time", () => {
    expect(closestOf("a".repeat(1_000_000), ["a".repeat(1_000_000)])).toBeUndefined();
  });
});
