import { usageError } from "../../cli-error.ts";
import type { CommandContext } from "../../command-context.ts";
import { ExitCode } from "../../exit-code.ts";

/** Asks `homeostat __complete` with the words up to the cursor; each line of the answer is a word, a tab, a description. */
const SCRIPTS = {
  bash: `# homeostat completion for bash. Use it with: source <(homeostat completion bash)
_homeostat() {
  # COMP_WORDS is split at colons and equal signs, which addresses and selectors have: the line itself is not.
  local line="\${COMP_LINE:0:COMP_POINT}"
  local -a words
  read -ra words <<< "$line"
  [[ "$line" == *[[:space:]] ]] && words+=("")
  COMPREPLY=()
  while IFS=$'\\t' read -r line _; do
    [ -n "$line" ] && COMPREPLY+=("$line")
  done < <(homeostat __complete -- "\${words[@]:1}" 2>/dev/null)
  if [ "\${COMPREPLY[0]}" = ":files" ]; then
    COMPREPLY=()
    compopt -o default
  fi
}
complete -F _homeostat homeostat
`,
  zsh: `#compdef homeostat
# homeostat completion for zsh. Use it with: source <(homeostat completion zsh)
_homeostat() {
  local -a lines
  local word description
  local line
  lines=("\${(@f)$(homeostat __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "\${lines[1]}" == :files* ]]; then
    _files
    return
  fi
  local -a candidates
  for line in "\${lines[@]}"; do
    [[ -z "$line" ]] && continue
    word="\${line%%$'\\t'*}"
    description="\${line#*$'\\t'}"
    candidates+=("\${word//:/\\\\:}:\${description}")
  done
  _describe 'homeostat' candidates
}
compdef _homeostat homeostat
`,
  fish: `# homeostat completion for fish. Use it with: homeostat completion fish | source
function __homeostat_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l lines (homeostat __complete -- $words[2..-1] 2>/dev/null)
  if test "$lines[1]" = ":files"
    __fish_complete_path (commandline -ct)
    return
  end
  printf '%s\\n' $lines
end
complete -c homeostat -f -a '(__homeostat_complete)'
`,
} as const;

const isShell = (name: string): name is keyof typeof SCRIPTS => Object.hasOwn(SCRIPTS, name);

/** Prints the completion script of a shell. */
export async function completion({ stdout }: CommandContext, shell: string): Promise<ExitCode> {
  if (!isShell(shell)) throw usageError(`the shell must be bash, zsh or fish, got ${JSON.stringify(shell)}`);
  await stdout.write(SCRIPTS[shell]);
  return ExitCode.ok;
}
