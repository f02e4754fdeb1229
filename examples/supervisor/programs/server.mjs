// The HTTP server of the example: answers every request with a greeting, and /healthz with its state.
// Usage: node server.mjs <config file>

import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const [, , configPath] = process.argv;
const { host, port, greeting } = JSON.parse(readFileSync(configPath, "utf8"));
let answered = 0;

const server = createServer((request, response) => {
  if (request.url === "/healthz") {
    response.writeHead(200, { "content-type": "application/json" }).end(`${JSON.stringify({ ok: true, answered })}\n`);
    return;
  }
  answered += 1;
  response.writeHead(200, { "content-type": "text/plain; charset=utf-8" }).end(`${greeting} (answer ${answered})\n`);
});

server.on("error", (error) => {
  const why =
    error.code === "EADDRINUSE"
      ? `port ${port} is taken: set another PORT in the manifest of the server`
      : error.message;
  console.error(`error: cannot listen on ${host}:${port}: ${why}`);
  process.exit(1);
});

server.listen(port, host, () => console.log(`listening on http://${host}:${port}/`));

process.on("SIGTERM", () => {
  console.log("stopping: no new connections");
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});
