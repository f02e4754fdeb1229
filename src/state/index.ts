// The contract of a State: eight operations that a store implements, and everything that is derived from them. Start
// with core-state.ts, then wrap-state.ts.
export { asCreated, asUpdated } from "./views/as-stored.ts";
export { AccessFilter, type Access, type AccessRule } from "./views/access-filter.ts";
export { AccessVerb, isReadVerb } from "./views/access-verb.ts";
export { ForwardingState, type Address, type ForwardedOperation, type Shortcuts } from "./views/forwarding-state.ts";
export type { CoreState, ResourceList, StoreUsage, Watch } from "./core-state.ts";
export {
  EventType,
  type CreatedEvent,
  type DestroyedEvent,
  type ErroredEvent,
  type Event,
  type MarkerEvent,
  type UpdatedEvent,
} from "./event.ts";
export { getOrNull } from "./get-or-null.ts";
export { NamespaceRouter } from "./views/namespace-router.ts";
export type {
  CallOptions,
  CreateOptions,
  DestroyOptions,
  ExpectedPhase,
  GetOptions,
  ListOptions,
  OverrunPolicy,
  Query,
  UpdateOptions,
  WatchKindOptions,
  WatchOptions,
} from "./options.ts";
export {
  OwnedState,
  type OwnedCreateOptions,
  type OwnedDestroyOptions,
  type OwnedModifyOptions,
} from "./views/owned-state.ts";
export { compileQuery, type CompiledQuery } from "./query.ts";
export { reflect, type ReflectOptions, type Reflection } from "./reflect.ts";
export { Reflector, type ReflectedChange, type ReflectorOptions } from "./reflector.ts";
export { NamespaceRegistry, ResourceRegistry } from "./registries.ts";
export { sealResourceList } from "./resource-list.ts";
export type { State, TeardownSignal, WatchCondition } from "./state.ts";
export { castList, CastWatch, isResourceType } from "./typed-answers.ts";
export { checkWatchKindOptions, checkWatchOptions } from "./watch-options.ts";
export { WrappedState, wrapState, type WrapOptions } from "./wrap-state.ts";
