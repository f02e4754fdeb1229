// Resources and manifests as YAML; mistakes come with file, line and field. Start with manifests.ts.
export { parseManifests, type Manifests, type ParseManifestsOptions } from "./manifests.ts";
export { formatMetadata, parseMetadata } from "./metadata-yaml.ts";
export { opaqueValue, parseOpaque } from "./opaque-yaml.ts";
export {
  formatResource,
  formatResources,
  formatSpec,
  parseResource,
  type ParseResourceOptions,
} from "./resource-yaml.ts";
export { formatPosition, YamlError, type Position } from "./yaml-error.ts";
export type { SourceOptions } from "./yaml-source.ts";
