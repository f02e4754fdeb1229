import { MemoryState } from "../memory/index.ts";
import type { AnyResourceType } from "../resource/index.ts";
import type { ControlPlane, ControlPlaneInit } from "./control-plane.ts";
import { runControlPlane } from "./run-control-plane.ts";

const FIELDS: ReadonlySet<string> = new Set([
  "state",
  "resources",
  "namespaces",
  "controllers",
  "runtime",
  "listen",
  "onStart",
  "tasks",
  "onStop",
] satisfies readonly (keyof ControlPlaneInit)[]);

/**
 * A control plane in one piece: what `homeostat.config.ts` exports and `homeostat run` runs. Nothing starts yet.
 *
 * @throws {TypeError} for an invalid definition; the message names the field.
 */
export function defineControlPlane(init: ControlPlaneInit): ControlPlane {
  if (typeof init !== "object" || init === null) throw new TypeError("defineControlPlane needs an object");
  for (const key of Object.keys(init)) {
    if (!FIELDS.has(key)) throw refused(key, `is not a known field; known: ${[...FIELDS].join(", ")}`);
  }
  const resources = listOf("resources", init.resources, isResourceType, "made by defineResource");
  const controllers = listOf("controllers", init.controllers ?? [], isController, "a controller with a name");
  const tasks = listOf("tasks", init.tasks ?? [], isTask, "a task with a name and a run method");
  const { state = () => new MemoryState({ types: resources }), runtime = {}, onStart, onStop, namespaces = {} } = init;
  if (typeof state !== "function") throw refused("state", "must be a function that opens it: () => new MemoryState()");
  for (const [field, hook] of Object.entries({ onStart, onStop })) {
    if (hook !== undefined && typeof hook !== "function") throw refused(field, "must be a function");
  }
  if (typeof runtime !== "object" || runtime === null) throw refused("runtime", "must be an object of options");
  for (const [name, description] of Object.entries(namespaces)) {
    if (typeof description !== "string") throw refused(`namespaces.${name}`, "must be a description");
  }
  checkTwice(
    "resources",
    resources.map(({ type }) => type),
  );
  checkTwice(
    "resources: the alias",
    resources.flatMap(({ presentation }) => presentation.aliases.map((alias) => alias.toLowerCase())),
  );
  checkTwice(
    "controllers",
    controllers.map(({ name }) => name),
  );
  checkTwice(
    "tasks",
    tasks.map(({ name }) => name),
  );
  const plane: ControlPlane = {
    state,
    resources,
    namespaces: new Map(Object.entries(namespaces)),
    controllers,
    runtime,
    listen: addressesOf(init.listen),
    onStart,
    tasks,
    onStop,
    run: (options) => runControlPlane(plane, options),
  };
  return Object.freeze(plane);
}

function addressesOf(listen: unknown): readonly string[] | undefined {
  if (listen === undefined) return undefined;
  const addresses: readonly unknown[] = Array.isArray(listen) ? listen : [listen];
  return addresses.map((address) => {
    if (typeof address === "string" && /^(?:unix:|tcp:)./.test(address)) return address;
    throw refused("listen", `must be unix:PATH or tcp:HOST:PORT, got ${JSON.stringify(address)}`);
  });
}

function listOf<T>(field: string, value: unknown, isItem: (item: unknown) => item is T, wanted: string): readonly T[] {
  if (!Array.isArray(value)) throw refused(field, "must be a list");
  const items: readonly unknown[] = value;
  return items.map((item, i) => {
    if (isItem(item)) return item;
    throw refused(`${field}[${i}]`, `must be ${wanted}`);
  });
}

function isResourceType(value: unknown): value is AnyResourceType {
  return isObject(value) && typeof value["type"] === "string" && typeof value["parseSpec"] === "function";
}

function isController(value: unknown): value is ControlPlane["controllers"][number] {
  return isObject(value) && typeof value["name"] === "string" && value["name"] !== "";
}

function isTask(value: unknown): value is ControlPlane["tasks"][number] {
  return isController(value) && "run" in value && typeof value.run === "function";
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

function checkTwice(field: string, names: readonly string[]): void {
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw refused(field, `${JSON.stringify(twice)} is there twice`);
}

const refused = (field: string, reason: string): TypeError => new TypeError(`control plane: ${field} ${reason}`);
