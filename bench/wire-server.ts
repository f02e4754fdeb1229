// Our server's part of the wire benchmark, in a process of its own, with the history of the Go program's server.
//
//   node --conditions=source bench/wire-server.ts SOCKET

import { MemoryState } from "homeostat";
import { server } from "homeostat/grpc";

await using state = new MemoryState({ history: { initialCapacity: 100_000, maxCapacity: 100_000, gap: 1000 } });
await using serving = server(state);
await serving.listen(`unix:${process.argv[2]}`);
const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
process.once("SIGTERM", () => stop());
await stopped;
