import { describe, expect, test } from "vitest";

import { LastOutput } from "./last-output.ts";

const say = (...chunks: readonly string[]) => {
  const words = new LastOutput();
  for (const chunk of chunks) words.add(Buffer.from(chunk));
  return words;
};

describe("last output", () => {
  test("the last line counts, whether it is finished or not", () => {
    expect(say("one\ntwo\n").line).toBe("two");
    expect(say("one\ntw", "o").line).toBe("two");
    expect(say("one\n\n  \n").line).toBe("one");
    expect(say().line).toBeUndefined();
  });

  test("a line that speaks of an error counts more than what comes after it", () => {
    const words = say("start\nError: port 80 is taken\n    at main.js:1\n\nNode.js v24\n");
    expect(words.line).toBe("Error: port 80 is taken");
    expect(words.errorLine).toBe("Error: port 80 is taken");
    expect(say("all is well\n").errorLine).toBeUndefined();
  });

  test("nothing in it is obeyed by a terminal, and it is never long", () => {
    expect(say("\u001b[31mred\u001b[0m\u0007bell\r\n").line).toBe("red bell");
    expect(say("x".repeat(100_000)).line).toHaveLength(200);
    expect(say("x".repeat(100_000), "\n").line).toHaveLength(200);
  });

  test("a character that two chunks share stays whole", () => {
    const bytes = Buffer.from("grün\n");
    const words = new LastOutput();
    words.add(bytes.subarray(0, 3));
    words.add(bytes.subarray(3));
    expect(words.line).toBe("grün");
  });
});
