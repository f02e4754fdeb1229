// The server of the two-way load, in a process of its own: node --conditions=source bench/load/server.ts ADDRESS
// Prints the address that it listens at.

import { MemoryState } from "homeostat";
import { server } from "homeostat/grpc";

const [endpoint = ""] = process.argv.slice(2);
const grpc = server(new MemoryState({ history: { maxCapacity: 10_000, maxBytes: 4 * 2 ** 20 } }));
const { address } = await grpc.listen(endpoint);
console.log(address);
