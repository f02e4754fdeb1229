import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { messageOf } from "../internal/foreign-value.ts";
import type { Logger } from "../log/index.ts";
import type { MetricsRegistry } from "../runtime/index.ts";
import { PrometheusPages } from "./prometheus.ts";

/** What is shown of a running engine. */
export interface Observed {
  readonly metrics: MetricsRegistry;
  /** Why it is not ready, as sentences; empty when it is. */
  unready(): readonly string[];
}

/** Where and how an engine is shown. */
export interface ObserveOptions {
  /** `HOST:PORT` or `PORT`; without a host on the loopback only. Port 0: one that is free. */
  readonly address: string;
  /** Told of requests that fail for no good reason. */
  readonly logger: Logger;
}

/** An engine that is being shown. */
export interface Observing extends AsyncDisposable {
  /** `http://HOST:PORT`, with the port that was chosen. */
  readonly url: string;
}

/** What one request may take; a page takes a few milliseconds. Unit: milliseconds. */
const REQUEST_MS = 10_000;
const MAX_CONNECTIONS = 100;
const MAX_HEADER_BYTES = 16 * 1024;

/**
 * Shows an engine over HTTP, for machines: `/metrics` (Prometheus, OpenMetrics), `/debug/vars` (as Go's expvar),
 * `/healthz` and `/readyz`. Read-only; there is no access control, so mind who can reach the address.
 *
 * It needs the package `prom-client`.
 *
 * @throws {TypeError} for an address that is none. @throws {Error} without `prom-client`; the system's when it cannot listen.
 */
export async function observe(observed: Observed, options: ObserveOptions): Promise<Observing> {
  const { host, port } = parseHostPort(options.address);
  const pages = await PrometheusPages.open(observed.metrics);
  const server = createServer({
    requestTimeout: REQUEST_MS,
    headersTimeout: REQUEST_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on("request", (request, response) => {
    answer(observed, pages, request, response).catch((error: unknown) => {
      options.logger.warn("a page could not be made", { path: request.url, error });
      end(response, 500, "text/plain; charset=utf-8", `${messageOf(error)}\n`);
    });
  });
  server.listen(port, host);
  await once(server, "listening");
  server.on("error", (error) => options.logger.warn("the HTTP server fails", { error }));
  return { url: urlOf(server), [Symbol.asyncDispose]: () => close(server) };
}

async function answer(
  observed: Observed,
  pages: PrometheusPages,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path] = (request.url ?? "/").split("?");
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    end(response, 405, "text/plain; charset=utf-8", "only GET and HEAD are answered\n");
    return;
  }
  const page = PAGES.get(path ?? "");
  if (page === undefined) {
    end(response, 404, "text/plain; charset=utf-8", `there is ${[...PAGES.keys()].join(", ")}\n`);
    return;
  }
  const { status = 200, type = "text/plain; charset=utf-8", text } = await page(observed, pages, request);
  end(response, status, type, text);
}

interface Page {
  readonly status?: number;
  readonly type?: string;
  readonly text: string;
}

type PageMaker = (observed: Observed, pages: PrometheusPages, request: IncomingMessage) => Page | Promise<Page>;

/** All that there is. */
const PAGES: ReadonlyMap<string, PageMaker> = new Map<string, PageMaker>([
  [
    "/metrics",
    async (_, pages, { headers }) => {
      const { contentType, text } = await pages.page(headers.accept ?? "");
      return { type: contentType, text };
    },
  ],
  [
    "/debug/vars",
    ({ metrics }) => ({
      type: "application/json; charset=utf-8",
      text: `${JSON.stringify(vars(metrics), null, 2)}\n`,
    }),
  ],
  ["/healthz", () => ({ text: "ok\n" })],
  [
    "/readyz",
    (observed) => {
      const reasons = observed.unready();
      return reasons.length === 0
        ? { text: "ok\n" }
        : { status: 503, text: reasons.map((reason) => `${reason}\n`).join("") };
    },
  ],
]);

/** Both forms of each name, and what Go's expvar shows of a process. */
const vars = (metrics: MetricsRegistry): object => ({
  ...metrics.toJSON(),
  cmdline: process.argv,
  memstats: process.memoryUsage(),
});

function end(response: ServerResponse, status: number, type: string, text: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, {
    "content-type": type,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(text);
}

function parseHostPort(address: string): { readonly host: string; readonly port: number } {
  const [, host = "127.0.0.1", port = ""] = /^(?:(.+):)?(\d{1,5})$/.exec(address) ?? [];
  if (port === "" || Number(port) > 65_535) {
    throw new TypeError(`${JSON.stringify(address)} is no HTTP address; it may be HOST:PORT or PORT`);
  }
  return { host: host.replace(/^\[(.*)\]$/, "$1"), port: Number(port) };
}

function urlOf(server: Server): string {
  const { address, port, family } = server.address() as AddressInfo;
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}`;
}

/** Answers that are under way are few and short; whoever keeps a connection open is cut off. */
async function close(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}
