// The small program that `check-package.ts` copies into an empty folder beside an installed homeostat. Its arguments are
// the entries of the package. It has to run on the oldest supported Node as it is, so there is no `await using` in it.

import { deepEqual, equal, notEqual } from "node:assert/strict";
import { registerHooks } from "node:module";

// The core stands alone: importing it must load nothing but its own files and built-in modules.
const loaded = new Set<string>();
registerHooks({
  load(url, context, nextLoad) {
    loaded.add(url);
    return nextLoad(url, context);
  },
});
const { defineResource, MemoryState, shape } = await import("homeostat");
const foreign = [...loaded].filter((url) => !url.startsWith("node:") && !url.includes("/node_modules/homeostat/dist/"));
deepEqual(foreign, [], "importing homeostat loaded a third-party package");
equal(
  [...loaded].some((url) => url.endsWith("/dist/index.js")),
  true,
  "the hook saw nothing",
);

const Service = defineResource({
  type: "Services.package.example.dev",
  namespace: "default",
  spec: shape({ command: ["string"] }),
});
const state = new MemoryState();
await state.create(Service.create("web", { command: ["node", "web.js"] }));
const web = await state.get(Service, "web");
deepEqual(web.spec.command, ["node", "web.js"]);
await state[Symbol.asyncDispose]();

for (const entry of process.argv.slice(2)) {
  const exported: object = await import(entry, entry.endsWith(".json") ? { with: { type: "json" } } : {});
  notEqual(Object.keys(exported).length, 0, `${entry} exports nothing`);
}
console.log(`Node ${process.version}: created and read a resource; ${loaded.size} files in all`);
