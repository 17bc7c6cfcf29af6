import type { CommandWords } from './command-words.ts';

/** Needs nothing but bash itself. */
export function bashScript(commands: readonly CommandWords[]): string {
  const paths = commands.map(({ path }) => `'${path}'`).join('|');
  const words = commands.map(
    ({ path, words }) => `    '${path}') words='${words.map(({ word }) => word).join(' ')}' ;;`,
  );
  const values = commands.flatMap(({ path, valued }) =>
    valued.map(({ option, choices }) => `    '${path} ${option}') words='${choices.join(' ')}' ;;`),
  );
  return `# Completion of earshot for bash: source <(earshot completion bash)
_earshot() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} path='' next='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next=\${path:+$path }\${COMP_WORDS[i]}
    case $next in
    ${paths}) path=$next ;;
    esac
  done
  case $path in
${words.join('\n')}
  esac
  # After an option that takes a value, only its values; none of them where anything may follow.
  case "$path $previous" in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _earshot earshot`;
}
