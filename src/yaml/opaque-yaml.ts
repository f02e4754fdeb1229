import { createResource, OpaqueSpec, type MetadataInit, type Resource } from "../resource/index.ts";
import { readPlainValue } from "./plain-value.ts";
import { YamlSource } from "./yaml-source.ts";

/**
 * A resource of a type that is not known here, from its metadata and the YAML text of its spec. The text is kept as it
 * is, and shown in its own style.
 *
 * @throws {YamlError} when the text is not one YAML document; {@link StateError} `invalid` for wrong metadata.
 */
export function parseOpaque(metadata: MetadataInit, yaml: string): Resource<OpaqueSpec> {
  readOpaque(yaml);
  return createResource(metadata, new OpaqueSpec({ yaml }));
}

/** What the YAML text of an opaque spec says, as plain data; null when it says nothing. @throws {YamlError} */
export function opaqueValue(spec: OpaqueSpec): unknown {
  return readOpaque(spec.yaml ?? "");
}

function readOpaque(yaml: string): unknown {
  const source = new YamlSource(yaml);
  return readPlainValue(source, source.root, ["spec"]);
}
