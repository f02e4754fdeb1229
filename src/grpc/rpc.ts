/** The methods of the State service. */
export const Rpc = {
  get: "Get",
  list: "List",
  create: "Create",
  update: "Update",
  destroy: "Destroy",
  watch: "Watch",
  teardown: "Teardown",
  teardownAndDestroy: "TeardownAndDestroy",
} as const;
export type Rpc = (typeof Rpc)[keyof typeof Rpc];

/** Full name of the State service. */
export const STATE_SERVICE = "cosi.resource.State";

/** Path of a method in HTTP/2. */
export const pathOf = (rpc: Rpc): string => `/${STATE_SERVICE}/${rpc}`;

export const isWrite = (rpc: Rpc): boolean => rpc !== Rpc.get && rpc !== Rpc.list && rpc !== Rpc.watch;
