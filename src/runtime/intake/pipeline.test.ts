import { describe, expect, test } from "vitest";
import { ManualClock } from "../../clock/index.ts";
import { createResource } from "../../resource/index.ts";
import { RecordingLogger } from "../../testing/index.ts";
import type { Change } from "../change.ts";
import { Pipeline, type ChangeSource } from "./pipeline.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

class Source implements ChangeSource {
  readonly routed: string[] = [];
  handovers = 0;
  readonly #broken: string;

  constructor(broken = "") {
    this.#broken = broken;
  }

  handedOver(): void {
    this.handovers++;
  }

  route({ metadata: { id } }: Change): void {
    if (id === this.#broken) throw new Error(`${id} is broken`);
    this.routed.push(id);
  }
}

function setUp() {
  const logger = new RecordingLogger();
  const pipeline = new Pipeline(new ManualClock(), logger);
  const add = (source: ChangeSource, ...ids: readonly string[]): void => {
    for (const id of ids) {
      const { metadata } = createResource({ namespace: "default", type: "T", id }, {});
      pipeline.add({ source, metadata, certain: false, before: [], isBeforeCut: false, cause: undefined });
    }
  };
  return { logger, pipeline, add };
}

describe("deliveries of one turn", () => {
  test("are independent: one that throws is logged, and holds up none behind it", async () => {
    const { logger, pipeline, add } = setUp();
    const [first, second] = [new Source("b"), new Source()];
    let called = 0;
    add(first, "a", "b", "c");
    add(second, "d");
    pipeline.call(() => called++);
    await turn();
    expect([first.routed, second.routed, called]).toEqual([["a", "c"], ["d"], 1]);
    expect(logger.lines).toMatchObject([
      { level: "error", message: "delivering a change failed", fields: { type: "T", id: "b" } },
    ]);
    add(first, "e");
    await turn();
    expect(first.routed).toEqual(["a", "c", "e"]);
  });

  test("come in the next turn, in order, handed over once for each source", async () => {
    const { add } = setUp();
    const source = new Source();
    add(source, "a", "b");
    expect([source.routed, source.handovers]).toEqual([[], 0]);
    await turn();
    expect([source.routed, source.handovers]).toEqual([["a", "b"], 1]);
    await turn();
    expect(source.handovers).toBe(1);
  });

  test("do not come any more once the pipeline is closed", async () => {
    const { pipeline, add } = setUp();
    const source = new Source();
    let called = 0;
    add(source, "a");
    pipeline.call(() => called++);
    pipeline.close();
    add(source, "b");
    pipeline.call(() => called++);
    await turn();
    expect([source.routed, called]).toEqual([[], 0]);
  });
});
