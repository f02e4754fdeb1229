import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newProject, typecheck } from "./new-project.ts";

const TYPES = `import { defineResource, shape } from "homeostat";
export const Service = defineResource({ type: "Services.example.dev", spec: shape({ command: "string" }) });
export const Status = defineResource({ type: "Statuses.example.dev", spec: shape({ running: "boolean" }) });
export const Other = defineResource({ type: "Others.example.dev", spec: shape({ text: "string" }) });
`;

/** What people get wrong, and what of the compiler's message leads them to the cure. */
interface Mistake {
  /** The rest of the definition of a queue controller of Services. */
  readonly queue?: string;
  /** The rest of the definition of a classic controller. */
  readonly classic?: string;
  readonly says: readonly string[];
}

const WRITE = "to write a type, add exclusive(Type) or shared(Type) to the controller's outputs";
const READ = "to read a type, add it to the controller's inputs or outputs";
const FINALIZERS = "to put finalizers on a type, make it a strong, primary or mapped input";
const BARE = "write exclusive(Type) or shared(Type), not the type itself";
const reconcile = (code: string): string => `async reconcile({ state }) { ${code} }`;
const modify = `await state.modify(Status, "a", () => ({ running: true }));`;

const mistakes: Readonly<Record<string, Mistake>> = {
  "an output that was not declared": { queue: reconcile(modify), says: ['"Statuses.example.dev"', WRITE] },
  "an output that was not declared, beside another": {
    queue: `outputs: [exclusive(Other)], ${reconcile(modify)}`,
    says: ["Statuses.example.dev", WRITE],
  },
  "a reference to what is no output": {
    queue: `outputs: [exclusive(Other)], ${reconcile(`await state.destroy(Status.ref("a"));`)}`,
    says: ['"Statuses.example.dev"', WRITE],
  },
  "a new resource of a type that is no output": {
    queue: reconcile(`await state.create(Status.create("a", { running: true }));`),
    says: ['"Statuses.example.dev"', WRITE],
  },
  "an output that a classic controller did not declare": {
    classic: `inputs: [weak(Service)], ${reconcile(modify)}`,
    says: ['"Statuses.example.dev"', WRITE],
  },
  "a type in place of an output": { queue: `outputs: [Status], reconcile() {}`, says: ["Statuses.example.dev", BARE] },
  "a type in place of an output of a classic controller": {
    classic: `outputs: [Status], reconcile() {}`,
    says: ["Statuses.example.dev", BARE],
  },
  "an undeclared read": { queue: reconcile(`await state.get(Other, "a");`), says: ["Others.example.dev", READ] },
  "an undeclared read by reference": {
    queue: reconcile(`await state.getOrNull(Other.ref("a"));`),
    says: ["Others.example.dev", READ],
  },
  "an undeclared list": {
    classic: `inputs: [weak(Service)], ${reconcile("await state.list(Other);")}`,
    says: ["Others.example.dev", READ],
  },
  "a finalizer on a weak input": {
    classic: `inputs: [weak(Service)], ${reconcile(`await state.addFinalizer(Service.ref("a"), "me");`)}`,
    says: ["Services.example.dev", FINALIZERS],
  },
  "a wrong field in the draft of modify": {
    queue: `outputs: [exclusive(Status)], ${reconcile(
      `await state.modify(Status, "a", (spec) => { spec.runing = true; });`,
    )}`,
    says: ["Property 'runing' does not exist", "Did you mean 'running'?"],
  },
  "a wrong field in what modify returns": {
    queue: `outputs: [exclusive(Status)], ${reconcile(`await state.modify(Status, "a", () => ({ runing: true }));`)}`,
    says: ["{ runing: boolean; }", "{ running: boolean; }"],
  },
  "a field that a new resource does not have yet": {
    queue: `outputs: [exclusive(Other)], ${reconcile(
      `await state.modify(Other, "a", (spec) => { spec.text = spec.text.trim(); });`,
    )}`,
    says: ["'spec.text' is possibly 'undefined'"],
  },
};

function sourceOf({ queue, classic }: Mistake): string {
  const definition =
    queue === undefined
      ? `controller({ name: "Me", ${classic ?? ""} })`
      : `queueController({ name: "Me", primary: Service, ${queue} })`;
  return `import { controller, exclusive, queueController, weak } from "homeostat";
import { Other, Service, Status } from "./types.ts";
export const me = ${definition};
export const used = [Other, Service, Status, controller, exclusive, queueController, weak];
`;
}

describe("the compiler leads to the cure of", () => {
  let compiled: ReadonlyMap<string, string> = new Map();
  const cleanUps: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    compiled = await compile(await newProject((remove) => cleanUps.push(remove)));
  });

  afterAll(async () => {
    for (const cleanUp of cleanUps) await cleanUp();
  });

  test.each(Object.entries(mistakes))("%s", (name, { says }) => {
    const message = compiled.get(name) ?? "";
    for (const text of says) expect(message).toContain(text);
    expect(message).not.toContain("never'");
  });
});

/** Compiles all mistakes at once. @returns what the compiler says to each. */
async function compile(folder: string): Promise<ReadonlyMap<string, string>> {
  const names = Object.keys(mistakes);
  await writeFile(join(folder, "types.ts"), TYPES);
  for (const [at, mistake] of Object.values(mistakes).entries()) {
    await writeFile(join(folder, `mistake-${at}.ts`), sourceOf(mistake));
  }
  const output = await typecheck(folder).then(
    () => "",
    ({ message }: Error) => message,
  );
  const messages = new Map<string, string>();
  for (const part of output.split(/^(?=mistake-)/m)) {
    const name = names[Number(/^mistake-(\d+)\.ts/.exec(part)?.[1])];
    if (name !== undefined) messages.set(name, (messages.get(name) ?? "") + part);
  }
  return messages;
}
