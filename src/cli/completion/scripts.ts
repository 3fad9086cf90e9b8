/**
 * Each asks the program itself with the words typed so far; its answer is one candidate a line, with a description
 * behind a tab, and a first line `:files` where names of files fit as well.
 */
const BASH = `# Completion of backhaul for bash: source <(backhaul completion bash)
_backhaul() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == ':files' ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
    elif [[ \${line%%$'\\t'*} == "$current"* ]]; then
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <("\${COMP_WORDS[0]}" __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _backhaul backhaul
`;

const ZSH = `#compdef backhaul
# Completion of backhaul for zsh: source <(backhaul completion zsh), after compinit
_backhaul() {
  local line
  local -a candidates
  for line in "\${(@f)$("$words[1]" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == ':files' ]]; then
      _files
    elif [[ -n $line ]]; then
      candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
    fi
  done
  (( \${#candidates} )) && _describe 'backhaul' candidates
}
compdef _backhaul backhaul
`;

const FISH = `# Completion of backhaul for fish: backhaul completion fish | source
function __backhaul_complete
    set -l typed (commandline -opc) (commandline -ct)
    for line in ($typed[1] __complete $typed[2..-1] 2>/dev/null)
        if test "$line" = ':files'
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c backhaul -f -a '(__backhaul_complete)'
`;

export const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
