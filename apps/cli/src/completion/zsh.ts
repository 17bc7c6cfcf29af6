import type { CommandWords } from './command-words.ts';

export function zshScript(commands: readonly CommandWords[]): string {
  const paths = commands.map(({ path }) => `'${path}'`).join('|');
  const described = commands.map(({ path, words }) => {
    const entries = words.map(({ word, about }) => quoted(`${word.replaceAll(':', '\\:')}:${about}`));
    return `    '${path}') offered=(${entries.join(' ')}) ;;`;
  });
  const values = commands.flatMap(({ path, valued }) =>
    valued.map(({ option, choices }) => `    '${path} ${option}') offered=(${choices.join(' ')}) ;;`),
  );
  return `#compdef earshot
# Completion of earshot for zsh: source <(earshot completion zsh)
_earshot() {
  local place='' next='' i
  local -a offered
  for ((i = 2; i < CURRENT; i++)); do
    next=\${place:+$place }\${words[i]}
    case $next in
    ${paths}) place=$next ;;
    esac
  done
  case $place in
${described.join('\n')}
  esac
  # After an option that takes a value, only its values; none of them where anything may follow.
  case "$place \${words[CURRENT - 1]}" in
${values.join('\n')}
  esac
  _describe 'earshot' offered
}
# In a folder of $fpath this file is the function itself.
if [[ $funcstack[1] == _earshot ]]; then _earshot "$@"; else compdef _earshot earshot; fi`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
