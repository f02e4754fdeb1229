import {
  createResource,
  defineResource,
  MemoryState,
  OpaqueSpec,
  shape,
  type Resource,
  type ResourceType,
  type State,
} from "homeostat";
import { SystemClock } from "homeostat/clock";
import { z } from "zod";
import { runCli } from "../src/cli/run-cli.ts";
import type { Endpoint, Host } from "../src/cli/host.ts";
import { describeTypes } from "../src/plane/index.ts";

export interface ServiceSpec {
  command: string[];
  restart?: string | undefined;
  limits?: { memory: string } | undefined;
}

export const Service: ResourceType<ServiceSpec> = defineResource({
  type: "Services.supervisor.example.dev",
  spec: shape({ command: ["string"], "restart?": "string", "limits?": { memory: "string" } }),
  aliases: ["svc"],
  columns: { Command: "$.command", Memory: "$.limits.memory" },
});
export const Secret: ResourceType<{ value: string }> = defineResource({
  type: "Secrets.supervisor.example.dev",
  namespace: "vault",
  spec: shape({ value: "string" }),
  columns: { Value: "$.value" },
  sensitive: true,
});
const ServiceStatus: ResourceType<{ running: boolean }> = defineResource({
  type: "ServiceStatuses.supervisor.example.dev",
  spec: shape({ running: "boolean" }),
});

/** A type whose schema fills in what is left out. */
export const Job: ResourceType<
  { size: number; retries: number },
  string,
  { size: number; retries?: number | undefined }
> = defineResource({
  type: "Jobs.batch.example.dev",
  spec: z.strictObject({ size: z.number("must be a number"), retries: z.number().default(3) }),
});

/** A State whose types are described but not known, as one behind a wire is. */
export async function describedState(): Promise<MemoryState> {
  const state = new MemoryState();
  await describeTypes(state, [Service, Secret, ServiceStatus], new Map());
  return state;
}

/** A resource as it comes over the wire: YAML, and bytes that mean nothing here. */
export function opaque(resource: Resource, yaml: string, bytes: Uint8Array = new TextEncoder().encode("{}")): Resource {
  return createResource(resource.metadata, new OpaqueSpec({ yaml, bytes }));
}

/** What a command line did. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface FakeHost extends Partial<Omit<Host, "stdout" | "stderr" | "openState">> {
  readonly isTerminal?: boolean;
  /** The State at an endpoint. */
  readonly open?: (endpoint: Endpoint) => State | Promise<State>;
  /** Called with what was written to standard output so far. */
  readonly onOutput?: (text: string) => void;
  readonly onNote?: (text: string) => void;
}

/** A view of a State that outlives the command that is given it. */
export function lent(state: State): State {
  return new Proxy(state, {
    get(target, key) {
      if (key === Symbol.asyncDispose) return () => Promise.resolve();
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function fail(): never {
  throw new Error("the test gave no State");
}

/** Runs a command line in this process, on the State or on those that the host opens. */
export async function runOn(state: State | undefined, args: readonly string[], host: FakeHost = {}): Promise<Outcome> {
  let [stdout, stderr] = ["", ""];
  const { isTerminal = false, open = () => state ?? fail(), onOutput, onNote, ...rest } = host;
  const code = await runCli(args, {
    stdout: {
      isTerminal,
      write: async (text) => {
        stdout += text;
        onOutput?.(stdout);
      },
    },
    stderr: {
      isTerminal,
      write: async (text) => {
        stderr += text;
        onNote?.(stderr);
      },
    },
    readStdin: async () => "",
    holdInterrupts: () => ({ [Symbol.dispose]: () => {} }),
    isInteractive: false,
    env: {},
    cwd: import.meta.dirname,
    userId: 0,
    temporaryFolder: "/nonexistent",
    clock: new SystemClock(),
    signal: new AbortController().signal,
    askVersion: async () => undefined,
    ...rest,
    openState: async (endpoint) => lent(await open(endpoint)),
  });
  return { code, stdout, stderr };
}
