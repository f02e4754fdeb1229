import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defineResource, MemoryState, StateError, type Resource, type State } from "homeostat";
import { ResourceDefinitionType } from "homeostat/resource";
import { accessDenied, connect, protobufSpec, server, type StateServer, type StateServerOptions } from "homeostat/grpc";
import { openState } from "../src/cli/connect/open-state.ts";
import { describeTypes } from "../src/plane/index.ts";
import { ResourceDefinitionSpecSchema } from "./gen/cosi/resource/meta/meta_pb.ts";
import { Job, runOn, Secret, Service, type FakeHost, type Outcome } from "./cli-fixture.ts";
import {
  authority,
  clientCertificate,
  clientKey,
  serverCertificate,
  serverKey,
} from "./grpc-transport/certificates.ts";

// Commands of this process, and a server of this process; between them a real socket.

let folder: string;
let socket: string;
const open: AsyncDisposable[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "homeostat-wire-"));
  socket = `unix:${join(folder, "s")}`;
});

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function serving(
  state: State = new MemoryState(),
  options: StateServerOptions = {},
  address: string = socket,
): Promise<{ readonly address: string; readonly state: State; readonly serving: StateServer }> {
  const started = server(state, options);
  open.push(state, { [Symbol.asyncDispose]: () => started.close({ graceMs: 0 }) });
  const { address: real } = await started.listen(address);
  return { address: real, state, serving: started };
}

const stderr = { isTerminal: false, write: async () => {} };

function run(line: string, input = "", host: FakeHost = {}): Promise<Outcome> {
  return runOn(undefined, line.split(" "), {
    open: (endpoint) => {
      const state = openState(endpoint, stderr);
      void state.then((one) => open.push(one));
      return state;
    },
    readStdin: async () => input,
    cwd: folder,
    env: { XDG_RUNTIME_DIR: folder },
    ...host,
  });
}

const at = (line: string, input?: string): Promise<Outcome> => run(`${line} --endpoint ${socket}`, input);

const GUEST = "metadata: { type: Guests.hotel.example, id: ada, labels: { floor: '1' } }\nspec: { room: 7 }\n";

describe("a State that knows no types", () => {
  test("a resource from its manifest to its end", async () => {
    await serving();
    expect(await at("apply -f -", GUEST)).toEqual({
      code: 0,
      stdout: "Guests.hotel.example/ada created\n",
      stderr: "",
    });
    expect((await at("apply -f -", GUEST)).stdout).toContain("unchanged");
    expect((await at("apply -f -", GUEST.replace("7", "8"))).stdout).toContain("configured");
    expect((await at("label Guests.hotel.example ada vip=yes floor-")).stdout).toContain("labeled");
    const shown: unknown = JSON.parse((await at("get Guests.hotel.example ada -o json")).stdout);
    expect(shown).toMatchObject({ metadata: { version: "3", labels: { vip: "yes" } }, spec: { room: 8 } });
    expect((await at("get Guests.hotel.example -o yaml")).stdout).toContain("spec:\n    room: 8\n");
    expect((await at("delete Guests.hotel.example ada")).stdout).toContain("deleted");
    expect(await at("get Guests.hotel.example ada")).toMatchObject({ code: 3, stdout: "" });
  });

  test("what is applied is read by programs that know the type", async () => {
    await serving();
    await at("apply -f -", "metadata: { type: Services.supervisor.example.dev, id: web }\nspec: { command: [a] }\n");
    await using client = connect(socket, { types: [Service] });
    expect((await client.get(Service, "web")).spec).toEqual({ command: ["a"] });
  });

  test("types come to be known through their definitions, whoever writes them", async () => {
    await serving();
    const definition = `metadata: { namespace: meta, type: ResourceDefinitions.meta.cosi.dev, id: guests.hotel.example }
spec:
  type: Guests.hotel.example
  displayType: Guest
  defaultNamespace: house
  aliases: []
  allAliases: [guests, guest, gs]
  printColumns: [{ name: Room, jsonPath: "{.room}" }]
`;
    await at("apply -f -", definition);
    await at("apply -f -", GUEST.replace("Guests.hotel.example", "gs"));
    expect((await at("get guest")).stdout).toMatch(/^NAMESPACE +TYPE +ID +VERSION +ROOM\nhouse +Guest +ada +1 +7\n$/);
    expect((await at("describe gs ada")).stdout).toContain("Spec:\n    room: 7\n");
    // Programs read what was applied in its own form, and what was applied over it.
    const peer = connect(socket, { types: [ResourceDefinitionType] });
    open.push(peer);
    const read = async (): Promise<readonly string[]> =>
      (await peer.get(ResourceDefinitionType, "guests.hotel.example")).spec.allAliases;
    expect(await read()).toEqual(["guests", "guest", "gs"]);
    expect((await at("apply -f -", definition.replace("gs]", "gg]"))).stdout).toContain("configured");
    expect(await read()).toEqual(["guests", "guest", "gg"]);
    expect((await at("apply -f -", definition.replace("displayType: Guest", "displayType: 7"))).stderr).toMatch(
      /^stdin:4:3: spec.displayType: must be a string/,
    );
  });
});

/** A State that knows and describes its types, as a control plane serves it. */
async function knowing(options: StateServerOptions = {}): Promise<State> {
  const types = [Service, Secret, Job];
  const state = new MemoryState({ types });
  await describeTypes(state, types, new Map([["vault", "What nobody should see."]]));
  await serving(state, { types, ...options });
  return state;
}

describe("a State that knows its types", () => {
  test("completes specs, and applying the same again changes nothing", async () => {
    const state = await knowing();
    const text = "metadata: { type: job, id: a }\nspec: { size: 1 }\n";
    expect((await at("apply -f -", text)).stdout).toContain("created");
    expect((await state.get(Job, "a")).spec).toEqual({ size: 1, retries: 3 });
    expect((await at("apply -f -", text)).stdout).toContain("unchanged");
    expect((await at("get job a -o jsonpath=$.spec.retries")).stdout).toBe("3\n");
  });

  test("refuses what is wrong, and the place and the field are told", async () => {
    await knowing();
    const text =
      "metadata: { type: job, id: good }\nspec: { size: 1 }\n---\nmetadata: { type: job, id: bad }\nspec:\n  retries: 1\n  size: big\n";
    expect(await at("apply -f -", text)).toEqual({
      code: 1,
      stdout: "Jobs.batch.example.dev/good created\n",
      stderr: "stdin:7:3: spec.size: must be a number\n",
    });
  });

  test("edit sends the text back, and a conflict keeps it", async () => {
    const state = await knowing();
    await state.create(Job.create("a", { size: 1 }));
    await writeFile(join(folder, "editor"), "sed -i 's/size: 1/size: 2/' $1\n");
    const host = { env: { PATH: process.env["PATH"], EDITOR: `sh ${join(folder, "editor")}` } };
    const edited = await run(`edit job a --endpoint ${socket}`, "", host);
    expect(edited).toEqual({ code: 0, stdout: "Jobs.batch.example.dev/a edited\n", stderr: "" });
    expect((await state.get(Job, "a")).spec).toEqual({ size: 2, retries: 3 });
  });

  test("a watch over the wire shows what happens", async () => {
    const state = await knowing();
    const stop = new AbortController();
    const outcome = await run(`watch svc --no-headers --endpoint ${socket}`, "", {
      signal: stop.signal,
      onNote: () => void state.create(Service.create("web", { command: ["a"] })),
      onOutput: () => stop.abort(),
    });
    expect(outcome.stdout).toBe('+   default   Service   web   1   ["a"]\n');
  });

  test("delete waits for those who hold a resource", async () => {
    const state = await knowing();
    await state.create(Service.create("web", { command: [] }, { finalizers: ["Holder"] }));
    const outcome = await run(`delete svc web --endpoint ${socket}`, "", {
      onNote: () => void state.removeFinalizer(Service.ref("web"), "Holder"),
    });
    expect(outcome).toMatchObject({ code: 0, stdout: expect.stringContaining("deleted") });
    expect(outcome.stderr).toContain("held by Holder");
  });

  test("completes types, ids and namespaces from the endpoint", async () => {
    const state = await knowing();
    await state.create(Job.create("nightly", { size: 1 }));
    const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
      const host = { env: { HOMEOSTAT_ENDPOINT: socket } };
      const { code, stdout } = await runOn(undefined, ["__complete", "--", ...words], {
        open: (endpoint) => openState(endpoint, stderr),
        ...host,
      });
      expect(code).toBe(0);
      return stdout.split("\n").flatMap((line) => line.split("\t", 1).filter((word) => word !== ""));
    };
    expect(await complete("get", "jo")).toEqual(["jobs", "job"]);
    expect(await complete("get", "jobs.")).toEqual(["jobs.batch.example.dev", "jobs.batch", "jobs.batch.example"]);
    expect(await complete("get", "job", "")).toEqual(["nightly"]);
    expect(await complete("get", "job", "--node", "x", "n")).toEqual(["nightly"]);
    expect(await complete("get", "-n", "va")).toEqual(["vault"]);
    expect(await complete("get", "-n", "vault", "job", "")).toEqual([]);
    expect(await complete("get", "nothing", "")).toEqual([]);
    expect(await complete("apply", "-f", "")).toEqual([":files"]);
    expect(await complete("completion", "")).toEqual(["bash", "zsh", "fish"]);
    expect(await complete("nothing", "")).toEqual([]);
    expect(await complete("help", "de")).toEqual(["describe", "delete"]);
    expect(await complete("get", "--show")).toEqual(["--show-sensitive"]);
    expect(await complete("-n", "vault", "get", "job", "")).toEqual([]);
    expect(await complete("-n", "va")).toEqual(["vault"]);
    expect(await complete("--node", "x", "get", "job", "")).toEqual(["nightly"]);
    expect(await complete("wait", "job", "--for", "cr")).toEqual(["created"]);
    expect(await complete("patch", "job", "--type", "")).toEqual(["merge", "json"]);
    expect(await complete("context", "")).toEqual(["list", "use", "add", "remove"]);
    expect(await complete("context", "use", "")).toEqual([]);
    expect(await complete("context", "add", "--over")).toEqual(["--overwrite"]);
    expect(await complete("fields", "jo")).toEqual(["jobs", "job"]);
    expect(await complete("--cont")).toEqual(["--context"]);
  });

  test("completion stays silent when nobody answers", async () => {
    expect(await run(`__complete -- get --endpoint unix:${join(folder, "nobody")} s`)).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
  });
});

describe("a type whose specs are protobuf messages", () => {
  const Reel = defineResource({
    type: "Reels.film.example.dev",
    spec: protobufSpec(ResourceDefinitionSpecSchema),
    columns: { Title: "$.displayType" },
  });
  const manifest = "metadata: { type: reel, id: a }\nspec: { displayType: Jaws, aliases: [shark] }\n";

  test("is written and edited where the server knows it", async () => {
    const state = new MemoryState({ types: [Reel] });
    await describeTypes(state, [Reel], new Map());
    await serving(state, { types: [Reel] });
    expect(await at("apply -f -", manifest)).toEqual({
      code: 0,
      stdout: "Reels.film.example.dev/a created\n",
      stderr: "",
    });
    expect((await state.get(Reel, "a")).spec).toMatchObject({ displayType: "Jaws", aliases: ["shark"] });
    expect((await at("apply -f -", manifest)).stdout).toContain("unchanged");
    expect((await at("apply -f -", manifest.replace("Jaws", "Orca"))).stdout).toContain("configured");
    expect((await at("get reel")).stdout).toMatch(/TITLE\ndefault +Reel +a +2 +Orca\n$/);
    await writeFile(join(folder, "editor"), "sed -i 's/Orca/Moby/' $1\n");
    const host = { env: { PATH: process.env["PATH"], EDITOR: `sh ${join(folder, "editor")}` } };
    expect((await run(`edit reel a --endpoint ${socket}`, "", host)).stdout).toContain("edited");
    expect((await state.get(Reel, "a")).spec.displayType).toBe("Moby");
    expect(await at("apply -f -", manifest.replace("[shark]", "7"))).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^stdin:1:1: .*aliases/),
    });
  });

  test("is left to programs that know it where the server does not, but its labels are not", async () => {
    const state = new MemoryState();
    await describeTypes(state, [Reel], new Map());
    await serving(state);
    const client = connect(socket, { types: [Reel] });
    open.push(client);
    await client.create(Reel.create("a", { displayType: "Jaws" }));
    expect(await at("apply -f -", manifest)).toMatchObject({ code: 1, stderr: expect.stringContaining("binary form") });
    expect((await at("label reel a seen=yes")).stdout).toContain("labeled");
    const stored = await client.get(Reel, "a");
    expect(stored.spec.displayType).toBe("Jaws");
    expect(stored.metadata.labels).toEqual({ seen: "yes" });
  });
});

describe("who may call", () => {
  const line = "get rd --no-headers -o name";

  test("tokens keep others out; a flag, a file or the environment holds one", async () => {
    await writeFile(join(folder, "token"), "second\n");
    await knowing({ tokens: ["first", "second"] });
    expect(await at(line)).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/token/i) });
    expect(await at(`${line} --token wrong`)).toMatchObject({ code: 1 });
    expect(await at(`${line} --token first`)).toMatchObject({ code: 0 });
    expect(await at(`${line} --token-file token`)).toMatchObject({ code: 0 });
    const host = { env: { HOMEOSTAT_TOKEN: "first" } };
    expect(await run(`${line} --endpoint ${socket}`, "", host)).toMatchObject({ code: 0 });
    expect(await at(`${line} --token first --token-file token`)).toMatchObject({ code: 2 });
    expect(await at(`${line} --token-file nowhere`)).toMatchObject({ code: 2 });
  });

  test("certificates on both sides", async () => {
    const files = { ca: authority, cert: clientCertificate, key: clientKey };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const state = new MemoryState();
    await describeTypes(state, [Service], new Map());
    const tls = { cert: serverCertificate, key: serverKey, ca: authority };
    const { address } = await serving(state, { tls }, "tcp:127.0.0.1:0");
    const client = `${line} --endpoint ${address} --timeout 5s`;
    expect(await run(`${client} --ca ca --cert cert --key key`)).toMatchObject({ code: 0, stderr: "" });
    expect(await run(`${client} --ca ca --cert cert --key key --server-name localhost`)).toMatchObject({ code: 0 });
    expect(await run(`${client} --ca ca --cert cert --key key --server-name other.example`)).toMatchObject({ code: 5 });
    expect(await run(`${client} --ca ca`)).toMatchObject({ code: 5 });
    expect(await run(`${client} --tls`)).toMatchObject({ code: 5 });
    expect(await run(client)).toMatchObject({ code: 5 });
  });

  test("a denial is told as such", async () => {
    await knowing({
      access: ({ type }) => {
        if (type === Secret.type) throw accessDenied("secrets are not for you");
      },
    });
    expect(await at("get secret")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("secrets are not for you"),
    });
  });

  test("the node travels with each call", async () => {
    const nodes: (string | undefined)[] = [];
    await knowing({ access: (_, { metadata }) => void nodes.push(metadata.get("node")) });
    const { code, stdout } = await at("get ns --node 10.0.0.1,worker-2");
    expect(code).toBe(0);
    expect([...new Set(nodes)]).toEqual(["10.0.0.1", "worker-2"]);
    expect(stdout).toMatch(/^NODE +NAMESPACE[^]*\n10.0.0.1 +meta[^]*\nworker-2 +meta/);
  });
});

describe("an endpoint that does not answer", () => {
  class SlowState extends MemoryState {
    override list(): Promise<never> {
      return new Promise(() => {});
    }
  }

  test("the time for a call is bounded", async () => {
    await serving(new SlowState());
    expect(await at("get svc --timeout 100ms")).toMatchObject({ code: 5, stdout: "" });
  });

  test("nobody there: the message says where, and for the usual place what to do", async () => {
    expect(await run("get svc")).toEqual({
      code: 5,
      stdout: "",
      stderr: expect.stringMatching(/^homeostat: no answer from unix:.*homeostat run starts.*--endpoint.*\n$/),
    });
    const { code, stderr: message } = await at("get svc");
    expect(code).toBe(5);
    expect(message).toContain(socket);
    expect(message).not.toContain("homeostat run");
  });

  test("a folder of sockets that others can write to is not trusted", async () => {
    await mkdir(join(folder, "homeostat"), { mode: 0o777 });
    const userId = process.getuid?.() ?? 0;
    await chmod(join(folder, "homeostat"), 0o777);
    expect(await run("get svc", "", { userId })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("only you"),
    });
    await chmod(join(folder, "homeostat"), 0o700);
    expect(await run("get svc", "", { userId })).toMatchObject({ code: 5 });
    expect(await run("get svc", "", { userId: userId + 1 })).toMatchObject({ code: 1 });
  });

  test("a write that the State refuses keeps its category", async () => {
    class RefusingState extends MemoryState {
      override create(resource: Resource): Promise<never> {
        return Promise.reject(new StateError("owner_conflict", "not yours", { pointer: resource.metadata }));
      }
    }
    await serving(new RefusingState());
    expect(await at("apply -f -", GUEST)).toMatchObject({ code: 1, stderr: expect.stringContaining("--owner") });
  });
});
