import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { server, type StateServer } from "../src/grpc/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { describeTypes } from "../src/plane/describe-types.ts";
import { defineResource, shape } from "../src/resource/index.ts";
import { CreateRequestSchema, CreateResponseSchema } from "../test/gen/cosi/resource/state_pb.ts";
import { hasGo } from "./go-program.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..");
const GRPCURL = "github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4";
const BUILD_MS = 300_000;

/** A Python with grpcio; `PYTHON` names another than the one on the PATH. */
const PYTHON = process.env["PYTHON"] ?? "python3";
const hasGrpcio = spawnSync(PYTHON, ["-c", "import grpc"]).status === 0;

const Service = defineResource({
  type: "Services.interop.example.dev",
  namespace: "default",
  spec: shape({ command: "string" }),
  aliases: ["svc"],
});

let folder = "";
let socket = "";
let state: MemoryState;
let serving: StateServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "homeostat-"));
  socket = join(folder, "s");
  state = new MemoryState({ types: [Service] });
  await describeTypes(state, [Service], new Map());
  await state.create(Service.create("web", { command: "node web.js" }), { owner: "ann" });
  serving = server(state, { types: [Service], reflection: true });
  await serving.listen(`unix:${socket}`);
});

afterAll(async () => {
  await serving.close({ graceMs: 0 });
  await state[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Standard output and error of a program, whatever it thinks of the outcome. */
async function output(program: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(program, [...args], { cwd: ROOT, timeout: 30_000 }).catch(
    (error: { readonly stdout: string; readonly stderr: string }) => error,
  );
  return `${stdout}${stderr}`;
}

describe.skipIf(!hasGo)("grpcurl", () => {
  let program = "";

  beforeAll(async () => {
    program = join(folder, "bin", "grpcurl");
    await run("go", ["install", GRPCURL], { env: { ...process.env, GOBIN: join(folder, "bin"), GOFLAGS: "" } });
  }, BUILD_MS);

  const call = (method: string, request: object): Promise<string> => {
    const protos = ["-import-path", "proto", "-proto", "cosi/resource/state.proto"];
    return output(program, ["-plaintext", "-unix", ...protos, "-d", JSON.stringify(request), socket, method]);
  };

  test("gets, lists, writes, and shows statuses", async () => {
    const web = { namespace: "default", type: Service.type, id: "web" };
    expect(JSON.parse(await call("cosi.resource.State/Get", web))).toMatchObject({
      resource: { metadata: { id: "web", version: "1", owner: "ann", phase: "running" } },
    });
    expect(await call("cosi.resource.State/List", { namespace: "default", type: Service.type })).toContain('"web"');
    const resource = {
      metadata: { namespace: "n", type: "Guests.example", id: "a", version: "undefined", phase: "running" },
      spec: { yamlSpec: "a: 1\n" },
    };
    expect(JSON.parse(await call("cosi.resource.State/Create", { resource }))).toMatchObject({
      resource: { metadata: { version: "1" }, spec: { yamlSpec: "a: 1\n" } },
    });
    expect(await call("cosi.resource.State/Get", { ...web, id: "none" })).toMatch(/Code: NotFound[^]*does not exist/);
  });
});

describe.skipIf(!hasGo)("grpcurl by reflection", () => {
  let program = "";

  beforeAll(async () => {
    program = join(folder, "bin", "grpcurl");
    await run("go", ["install", GRPCURL], { env: { ...process.env, GOBIN: join(folder, "bin"), GOFLAGS: "" } });
  }, BUILD_MS);

  test("lists, describes and calls without a .proto file", async () => {
    const ask = (...args: readonly string[]): Promise<string> => output(program, ["-plaintext", "-unix", ...args]);
    expect(await ask(socket, "list")).toContain("cosi.resource.State\ngrpc.health.v1.Health\n");
    expect(await ask(socket, "list", "cosi.resource.State")).toContain("cosi.resource.State.Watch\n");
    expect(await ask(socket, "describe", "cosi.resource.WatchRequest")).toContain("optional string id = 3;");
    expect(await ask(socket, "describe", "grpc.health.v1.Health")).toContain("rpc Check");
    const kind = JSON.stringify({ namespace: "default", type: Service.type });
    expect(await ask("-d", kind, socket, "cosi.resource.State/List")).toContain('"web"');
    const watch = ["-max-time", "1", "-d", JSON.stringify({ namespace: "default", type: Service.type, id: "web" })];
    expect(await ask(...watch, socket, "cosi.resource.State/Watch")).toMatch(/"web"[^]*DeadlineExceeded/);
    const web = JSON.stringify({ namespace: "default", type: Service.type, id: "web" });
    expect(JSON.parse(await ask("-d", web, socket, "cosi.resource.State/Get"))).toMatchObject({
      resource: { metadata: { id: "web", owner: "ann" } },
    });
  });
});

describe.skipIf(!hasGo)("Talos' client", () => {
  let program = "";

  beforeAll(async () => {
    program = join(folder, "talosget");
    await run("go", ["build", "-o", program, "."], { cwd: join(import.meta.dirname, "talos") });
  }, BUILD_MS);

  test("resolves an alias, lists, gets and watches", async () => {
    expect(await output(program, [socket, "svc"])).toMatch(
      /^type Services\.interop\.example\.dev namespace default display Service columns 0 sensitivity ""\nweb 1 running ann\n$/,
    );
    expect(await output(program, [socket, "services", "web"])).toMatch(/id: web[^]*spec:\n {4}command: node web\.js/);
    expect(await output(program, [socket, "svc", "-w", "2"])).toMatch(/Created web 1[^]*Bootstrapped/);
    expect(await output(program, [socket, "svc", "none"])).toMatch(/NotFound|does not exist/);
  });
});

describe.skipIf(!hasGrpcio)("grpcio", () => {
  const call = (method: string, request: Uint8Array): Promise<string> =>
    output(PYTHON, [
      join(import.meta.dirname, "grpcio", "call.py"),
      `unix:${socket}`,
      method,
      Buffer.from(request).toString("hex"),
    ]);

  test.each(["gzip", "deflate"])("with its requests compressed by %s", async (encoding) => {
    const yamlSpec = "a: 1\n".repeat(1_000);
    const id = `by-${encoding}`;
    const resource = {
      metadata: { namespace: "n", type: "Guests.example", id, version: "undefined", phase: "running" },
      spec: { yamlSpec },
    };
    const request = toBinary(CreateRequestSchema, create(CreateRequestSchema, { resource }));
    const answer = await call(`${encoding}/cosi.resource.State/Create`, request);
    const { resource: stored } = fromBinary(CreateResponseSchema, Buffer.from(answer.trim(), "hex"));
    expect(stored).toMatchObject({ metadata: { id, version: "1" }, spec: { yamlSpec } });
    expect(await call(`${encoding}/cosi.resource.State/Create`, request)).toMatch(/^ALREADY_EXISTS .* exists already/);
  });

  test("finds the health service", async () => {
    expect(await call("gzip/grpc.health.v1.Health/Check", new Uint8Array())).toBe("0801\n");
  });
});
