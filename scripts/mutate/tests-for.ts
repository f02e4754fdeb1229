/**
 * Rooms whose tests have a score to keep, and the tests that are to notice a change in them: those of the room itself and
 * the suites that it has to pass, not all that happens to run its code.
 */
const TESTS: Readonly<Record<string, readonly string[]>> = {
  "src/memory": [
    "src/memory/**",
    "src/store/**",
    "src/testing/suites/state/state-conformance.test.ts",
    "test/watch-streams.test.ts",
  ],
  "src/store": [
    "src/memory/**",
    "src/store/**",
    "src/testing/suites/state/state-conformance.test.ts",
    "test/watch-streams.test.ts",
  ],
  "src/state": ["src/state/**", "src/testing/suites/state/state-conformance.test.ts"],
  "src/runtime": [
    "src/runtime/**",
    "test/engine-{cache,contract,explain,lifecycle,output-tracking,resync,shutdown,wakeups}.test.ts",
  ],
  "src/grpc/client": ["src/grpc/**", "test/grpc-client/**"],
  "src/rpc": ["src/rpc/**", "test/grpc-transport/**"],
};

export const MUTATED_PATHS: readonly string[] = Object.keys(TESTS);

/** Patterns of the tests for changes in `paths`; none, which means all, where a path is in no room of the table. */
export function testsFor(paths: readonly string[]): readonly string[] {
  const rooms = paths.map((path) => MUTATED_PATHS.find((room) => path === room || path.startsWith(`${room}/`)));
  const patterns = rooms.map((room) => (room === undefined ? undefined : TESTS[room]));
  if (patterns.includes(undefined)) return [];
  const files = patterns.flatMap((one) => one ?? []).map((one) => (one.endsWith(".ts") ? one : `${one}/*.test.ts`));
  return [...new Set(files)];
}
