import { createServer as createHttpServer } from "node:http";
import { createServer, type AddressInfo, type Server } from "node:net";
import { platform } from "node:os";

import { describe, expect, test } from "vitest";

import { findMarked, newMark } from "./mark.ts";
import { probeCommand, ProbeNotRunError, probeHttp, probeTcp } from "./probe.ts";

const never = new AbortController().signal;
const around = { cwd: process.cwd(), env: {}, mark: newMark("/probe-test", "a") };

async function listening(server: Server): Promise<{ port: number } & AsyncDisposable> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

describe("probes", () => {
  test("http: any status from 200 to 399 is good, any other bad", async () => {
    const server = createHttpServer((request, response) => {
      response.writeHead(Number(request.url?.slice(1))).end("x".repeat(100_000));
    });
    await using open = await listening(server);
    const ask = (status: number) => probeHttp(`http://127.0.0.1:${open.port}/${status}`, never);
    await ask(200);
    await ask(302);
    await expect(ask(404)).rejects.toThrow(/answered with status 404/);
    await expect(ask(500)).rejects.toThrow(/answered with status 500/);
    await expect(probeHttp("ftp://127.0.0.1/", never)).rejects.toThrow("is not an http or https URL");
  });

  test("tcp: what accepts is well", async () => {
    let port = 0;
    {
      await using open = await listening(createServer((socket) => socket.destroy()));
      port = open.port;
      await probeTcp(`127.0.0.1:${port}`, never);
      await probeTcp(`:${port}`, never);
    }
    await expect(probeTcp(`127.0.0.1:${port}`, never)).rejects.toThrow("ECONNREFUSED");
    for (const wrong of ["127.0.0.1", "host:99999", "host:port"]) {
      await expect(probeTcp(wrong, never)).rejects.toThrow("must be host:port");
    }
  });

  test("command: exit code 0 is good, and others come with the last line of output", async () => {
    await probeCommand(["true"], around, never);
    await expect(probeCommand(["sh", "-c", "echo no lock; exit 2"], around, never)).rejects.toThrow(
      "exited with code 2: no lock",
    );
    await expect(probeCommand(["sh", "-c", "kill -9 $$"], around, never)).rejects.toThrow("ended by SIGKILL");
    await expect(probeCommand(["no-such-program"], around, never)).rejects.toThrow(ProbeNotRunError);
    await expect(probeCommand(["true"], { ...around, cwd: "/nowhere" }, never)).rejects.toThrow(
      "there is no folder /nowhere",
    );
  });

  test.runIf(platform() === "linux")("a command that takes too long is killed with all that it started", async () => {
    const probe = probeCommand(["sh", "-c", "sleep 1000 & wait"], around, AbortSignal.timeout(200));
    await expect(probe).rejects.toThrow("aborted due to timeout");
    await expect.poll(() => findMarked("/probe-test"), { timeout: 30_000 }).toEqual([]);
  });

  test("a question that is called off ends at once", async () => {
    await using open = await listening(createServer((socket) => void socket.on("error", () => {}).resume()));
    const url = `http://127.0.0.1:${open.port}/`;
    await expect(probeHttp(url, AbortSignal.timeout(50))).rejects.toThrow("aborted");
    await expect(probeTcp(`127.0.0.1:${open.port}`, AbortSignal.abort())).rejects.toThrow("aborted");
    await expect(probeCommand(["true"], around, AbortSignal.abort())).rejects.toThrow("aborted");
  });
});
