// Writes the descriptors of all services that a server may have to `src/grpc/gen/descriptors.ts`, for its reflection
// service; with a path as its argument, to that file.

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");
const LINE = 110;

const { status, stdout, stderr, error } = spawnSync(
  join(ROOT, "node_modules", ".bin", "buf"),
  ["build", "proto", "--as-file-descriptor-set", "--exclude-source-info", "-o", "-"],
  { cwd: ROOT },
);
if (error !== undefined) throw error;
if (status !== 0) throw new Error(`buf build ended with ${status}\n${String(stderr)}`);
const lines = stdout.toString("base64").match(new RegExp(`.{1,${LINE}}`, "g")) ?? [];
const text = [
  "// Made by scripts/generate-descriptors.ts from the .proto files. Do not change it by hand.",
  "",
  "/** A google.protobuf.FileDescriptorSet of all the .proto files and what they import; base64. */",
  "export const DESCRIPTORS: string = [",
  ...lines.map((line) => `  "${line}",`),
  '].join("");',
  "",
].join("\n");
writeFileSync(process.argv[2] ?? join(ROOT, "src/grpc/gen/descriptors.ts"), text);
