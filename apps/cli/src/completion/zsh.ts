import type { CommandWords } from './command-words.ts';

export function zshScript(commands: readonly CommandWords[]): string {
  const paths = commands.map(({ path }) => `'${path}'`).join('|');
  const words = commands.map(({ path, words }) => {
    const described = words.map(({ word, about }) => quoted(`${word.replaceAll(':', '\\:')}:${about}`));
    return `    '${path}') words=(${described.join(' ')}) ;;`;
  });
  const values = commands.flatMap(({ path, valued }) =>
    valued.map(({ option, choices }) => `    '${path} ${option}') words=(${choices.join(' ')}) ;;`),
  );
  return `#compdef earshot
# Completion of earshot for zsh: source <(earshot completion zsh)
_earshot() {
  local place='' next='' i
  local -a words_typed=("\${words[@]}") words
  for ((i = 2; i < CURRENT; i++)); do
    next=\${place:+$place }\${words_typed[i]}
    case $next in
    ${paths}) place=$next ;;
    esac
  done
  case $place in
${words.join('\n')}
  esac
  case "$place \${words_typed[CURRENT - 1]}" in
${values.join('\n')}
  esac
  _describe 'earshot' words
}
compdef _earshot earshot`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
