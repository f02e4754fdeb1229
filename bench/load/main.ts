// Load in both directions between two Node processes, on a unix socket and on TCP:
//
//   npm run load [-- --rounds 300 --seed 1 --scale 1 --transport unix --server PROGRAM --client PROGRAM]

import { parseArgs } from "node:util";

import { runLoad } from "./run.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    scale: { type: "string", default: "1" },
    transport: { type: "string", default: "both" },
    server: { type: "string" },
    client: { type: "string" },
  },
});

const [rounds, seed, scale] = [Number(values.rounds), Number(values.seed), Number(values.scale)];
for (const transport of ["unix", "tcp"] as const) {
  if (values.transport !== "both" && values.transport !== transport) continue;
  const started = performance.now();
  const ended = await runLoad({ transport, seed, rounds, scale, server: values.server, client: values.client });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${transport}: ${ended} of ${rounds} rounds ended, seed ${seed}, ${seconds} s`);
  if (ended < rounds) process.exitCode = 1;
}
