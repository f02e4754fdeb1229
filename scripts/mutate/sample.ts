// A StrykerJS plugin: a "checker" that lets only a share of the mutants through. Whether a mutant belongs to it depends on
// the mutant and the seed alone, so a larger share includes the smaller one, and a second run tries the same.

import { createHash } from "node:crypto";
import { relative } from "node:path";

interface Mutant {
  readonly id: string;
  readonly fileName: string;
  readonly location: object;
  readonly replacement: string;
}

interface CheckResult {
  readonly status: "passed" | "compileError";
  readonly reason?: string;
}

interface Sampler {
  init(): Promise<void>;
  group(mutants: readonly Mutant[]): Promise<string[][]>;
  check(mutants: readonly Mutant[]): Promise<Record<string, CheckResult>>;
}

function createSampler(): Sampler {
  const share = Number(process.env["MUTATE_SHARE"]);
  const seed = process.env["MUTATE_SEED"] ?? "";
  const isInSample = ({ fileName, location, replacement }: Mutant): boolean => {
    const name = JSON.stringify([seed, relative(process.cwd(), fileName), location, replacement]);
    return createHash("sha256").update(name).digest().readUInt32BE() < share * 2 ** 32;
  };
  return {
    async init() {},
    async group(mutants) {
      return [mutants.map(({ id }) => id)];
    },
    async check(mutants) {
      const result = (mutant: Mutant): CheckResult =>
        isInSample(mutant) ? { status: "passed" } : { status: "compileError", reason: "not in the sample" };
      return Object.fromEntries(mutants.map((mutant) => [mutant.id, result(mutant)]));
    },
  };
}

interface Plugin {
  readonly kind: "Checker";
  readonly name: string;
  readonly factory: () => Sampler;
}

export const strykerPlugins: readonly Plugin[] = [{ kind: "Checker", name: "sample", factory: createSampler }];
