import { createFileRegistry, fromBinary, toBinary, type DescFile, type FileRegistry } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { DESCRIPTORS } from "../../gen/descriptors.ts";

/** What a server can tell of its services: the files that they are described in. */
export class ReflectionIndex {
  /** Full names of the services that are served, sorted. */
  readonly services: readonly string[];
  readonly #registry: FileRegistry;
  /** Files that describe what is served, and what they import: nothing else is told of. */
  readonly #files: ReadonlyMap<string, DescFile>;

  /** @param paths - Of the methods that are served: `/package.Service/Method`. */
  constructor(paths: Iterable<string>) {
    const set = fromBinary(FileDescriptorSetSchema, Buffer.from(DESCRIPTORS, "base64"));
    this.#registry = createFileRegistry(set);
    const services = new Set(Array.from(paths, (path) => path.split("/")[1] ?? ""));
    this.services = [...services].filter((name) => this.#registry.getService(name) !== undefined).sort();
    const files = new Map<string, DescFile>();
    for (const name of this.services) addFile(files, this.#registry.getService(name)?.file);
    this.#files = files;
  }

  /** The file of this name and all that it imports, serialized; undefined when there is none. */
  file(name: string): readonly Uint8Array[] | undefined {
    const file = this.#files.get(name);
    return file && serialized(file);
  }

  /** The file that declares a service, method, message, field or enum, likewise. */
  fileOf(symbol: string): readonly Uint8Array[] | undefined {
    const file = this.#find(symbol)?.file;
    return file && this.file(file.proto.name ?? "");
  }

  /** True for a message of the files: none of them can be extended. */
  isMessage(name: string): boolean {
    const file = this.#registry.getMessage(name)?.file;
    return file !== undefined && this.#files.has(file.proto.name ?? "");
  }

  #find(symbol: string): { readonly file: DescFile } | undefined {
    const found = this.#registry.get(symbol);
    if (found !== undefined) return found;
    const parent = this.#registry.get(symbol.slice(0, Math.max(0, symbol.lastIndexOf("."))));
    const member = symbol.slice(symbol.lastIndexOf(".") + 1);
    const members = parent?.kind === "service" ? parent.methods : parent?.kind === "message" ? parent.members : [];
    return members.some(({ name }) => name === member) ? parent : undefined;
  }
}

function addFile(files: Map<string, DescFile>, file: DescFile | undefined): void {
  const name = file?.proto.name;
  if (file === undefined || name === undefined || files.has(name)) return;
  files.set(name, file);
  for (const dependency of file.dependencies) addFile(files, dependency);
}

function serialized(file: DescFile): readonly Uint8Array[] {
  const files = new Map<string, DescFile>();
  addFile(files, file);
  return Array.from(files.values(), ({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
}
