// The command homeostat. Start with run-cli.ts; each command is a file in commands/.
export { main } from "./main.ts";
