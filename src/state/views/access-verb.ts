/** What an operation does, for an access rule. */
export const AccessVerb = {
  get: "get",
  list: "list",
  watch: "watch",
  create: "create",
  update: "update",
  destroy: "destroy",
} as const;
export type AccessVerb = (typeof AccessVerb)[keyof typeof AccessVerb];

/** True for the verbs that change nothing. */
export const isReadVerb = (verb: AccessVerb): boolean => verb === "get" || verb === "list" || verb === "watch";
