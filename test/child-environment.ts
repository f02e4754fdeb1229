/** The environment of a program under test: what it needs of this process' own, and `more`. */
export const childEnvironment = (more: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
  ...more,
});
