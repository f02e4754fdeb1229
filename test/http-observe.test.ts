import { request } from "node:http";
import { connect as connectTo } from "node:net";
import parsePrometheus from "parse-prometheus-text-format";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ManualClock } from "../src/clock/index.ts";
import { queueController } from "../src/controller/index.ts";
import { observe, type Observing } from "../src/http/index.ts";
import { EXPOSED } from "../src/http/prometheus.ts";
import { silentLogger } from "../src/log/index.ts";
import { MemoryState } from "../src/memory/index.ts";
import { Runtime } from "../src/runtime/index.ts";
import { eventually, Int } from "../src/testing/index.ts";

const state = new MemoryState();
const runtime = new Runtime(state, {
  logger: silentLogger,
  // What has failed is not tried again.
  clock: new ManualClock(),
  cache: [Int],
  controllers: [
    queueController({
      name: 'Q"1\\\n',
      primary: Int,
      reconcile({ ref }) {
        if (ref.id === "bad") throw new Error("no");
      },
    }),
  ],
});
const stop = new AbortController();
let running: Promise<void>;
let showing: Observing;

beforeAll(async () => {
  showing = await observe(runtime, { address: "0", logger: silentLogger });
});

afterAll(async () => {
  await showing[Symbol.asyncDispose]();
  stop.abort();
  await running;
});

const get = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(`${showing.url}${path}`, init);
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
};

describe("an engine over HTTP", () => {
  test("it is healthy before it is ready", async () => {
    expect(showing.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await get("/healthz")).toMatchObject({ status: 200, text: "ok\n" });
    expect(await get("/readyz")).toMatchObject({ status: 503, text: "the runtime has not been started\n" });
    running = runtime.run({ signal: stop.signal });
    await eventually(async () => expect(await get("/readyz")).toMatchObject({ status: 200, text: "ok\n" }));
  });

  test("a Prometheus parser reads its metrics", async () => {
    await state.create(Int.create("good", { value: 1 }));
    await state.create(Int.create("bad", { value: 1 }));
    await eventually(() => expect(runtime.metrics.value("qcontroller_crashes", 'Q"1\\\n')).toBe(1));
    const { status, type, text } = await get("/metrics");
    expect({ status, type }).toEqual({ status: 200, type: "text/plain; version=0.0.4; charset=utf-8" });
    const families = parsePrometheus(text);
    const valueOf = (name: string) => families.find((family) => family.name === name)?.metrics?.[0];
    expect(valueOf("homeostat_queue_processed_total")).toMatchObject({ value: "2" });
    expect(valueOf("homeostat_queue_failures_total")).toMatchObject({ value: "1", labels: { controller: 'Q"1\\\n' } });
    expect(valueOf("homeostat_cached_resources")).toMatchObject({ value: "2", labels: { type: Int.type } });
    expect(valueOf("process_resident_memory_bytes")).toBeDefined();
    // Read again, nothing is counted twice.
    expect((await get("/metrics")).text).toContain("homeostat_queue_processed_total{");
    expect(parsePrometheus((await get("/metrics")).text).filter(({ name }) => name.startsWith("homeostat_"))).toEqual(
      families.filter(({ name }) => name.startsWith("homeostat_")),
    );
  });

  test("OpenMetrics, for those who ask for it", async () => {
    const { type, text } = await get("/metrics", { headers: { accept: "application/openmetrics-text;version=1.0.0" } });
    expect(type).toContain("application/openmetrics-text");
    expect(text).toMatch(/# EOF\n$/);
    expect(text).toContain("# TYPE homeostat_queue_processed counter");
  });

  test("every metric of the engine has a name for Prometheus", () => {
    expect(Object.keys(EXPOSED).sort()).toEqual(Object.keys(runtime.metrics.snapshot()).sort());
  });

  test("/debug/vars has both forms of each name", async () => {
    const { type, text } = await get("/debug/vars");
    expect(type).toBe("application/json; charset=utf-8");
    const vars = JSON.parse(text) as Record<string, Record<string, number>>;
    expect(vars["qcontroller_processed"]).toEqual({ 'Q"1\\\n': 2 });
    expect(vars["cosi_qcontroller_processed"]).toEqual(vars["qcontroller_processed"]);
    expect(vars["memstats"]?.["rss"]).toBeGreaterThan(0);
  });

  test("other paths, other methods, garbage", async () => {
    expect(await get("/")).toMatchObject({ status: 404, text: expect.stringContaining("/metrics") });
    expect(await get("/metrics", { method: "POST", body: "x" })).toMatchObject({ status: 405 });
    expect(await get("/healthz", { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
    expect(await get("/healthz?x=1")).toMatchObject({ status: 200 });
    const { port } = new URL(showing.url);
    const socket = connectTo(Number(port), "127.0.0.1");
    socket.on("error", () => undefined);
    socket.resume();
    socket.end("\u0000\u0001 nonsense\r\n\r\n");
    await new Promise((resolve) => socket.once("close", resolve));
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const asked = request(`${showing.url}/healthz`, { headers: { "x-large": "x".repeat(20_000) } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on("error", reject);
      asked.end();
    });
    expect(status).toBe(431);
    expect(await get("/healthz")).toMatchObject({ status: 200 });
  });

  test.each(["", "x", "host:99999", "host:"])("%j is no address", async (address) => {
    await expect(observe(runtime, { address, logger: silentLogger })).rejects.toThrow("is no HTTP address");
  });

  test("a port that is taken is an error", async () => {
    const { port } = new URL(showing.url);
    await expect(observe(runtime, { address: port, logger: silentLogger })).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
  });
});
