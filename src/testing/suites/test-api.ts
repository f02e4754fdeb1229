/** What a test runner may hand to a running test; that of vitest and of `node:test` fit. */
export interface TestContext {
  /** Reports the test as skipped. */
  skip?(reason: string): void;
}

/** The part of a test runner that the suites need; that of vitest, `node:test` and others fit. */
export interface TestApi {
  test(name: string, fn: (context?: TestContext) => Promise<void>): unknown;
}
