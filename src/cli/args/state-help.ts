/** How the names look that `--state` takes. */
export const STATE_HELP = "memory, or sqlite:PATH for a file that outlives the process";
