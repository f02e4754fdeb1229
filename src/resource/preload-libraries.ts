/**
 * Loads what this room otherwise loads on first use: RE2 for id queries, and the plurals of definitions. Loading takes
 * real time, whatever a clock says, so a run that has to repeat itself under a manual clock calls this first.
 */
export async function preloadLibraries(): Promise<void> {
  await Promise.all([import("re2js"), import("pluralize")]);
}
