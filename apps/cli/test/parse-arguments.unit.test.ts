import { expect, test } from 'vitest';
import { type Command, type CommandGroup, isGroup } from '../src/command.ts';
import { earshotCommands } from '../src/commands.ts';
import { helpOf } from '../src/help.ts';
import { parseArguments, resolveCommand } from '../src/parse-arguments.ts';
import { allCommands } from './all-commands.ts';

function parse(...words: string[]) {
  const { entry, rest } = resolveCommand(earshotCommands, words);
  if (isGroup(entry)) throw new Error('a group');
  return parseArguments(entry, rest);
}

test('options and arguments are read wherever they stand', () => {
  const words = ['--json', 'rules', 'update', '--name', 'A', 'rule_1', '--x=-is:retweet', '--no-color'];
  expect(parse(...words)).toMatchObject({
    options: { name: 'A', x: '-is:retweet', intent: undefined, 'never-expires': false },
    args: { rule: 'rule_1' },
    isJson: true,
    noColor: true,
  });
});

test('a rule may begin with a dash', () => {
  expect(parse('rules', 'validate', '--x', '-is:retweet cats')).toMatchObject({
    options: { x: '-is:retweet cats' },
  });
});

test.for([
  ['ruls list', 'There is no command earshot ruls. Did you mean earshot rules?'],
  ['rules val', 'There is no command earshot rules val. Did you mean earshot rules validate?'],
  [
    'webhooks frobnicate',
    'There are: list, create, update, retry, delete, rotate-secret, test, deliveries, replay.',
  ],
  ['rules list --limt 3', '--limt is not an option of this command. Did you mean --limit?'],
  ['rules validate -x a', '-x is not an option of this command. Did you mean --x?'],
  ['rules list --limit', '--limit needs a value: --limit <n>'],
  ['rules list --limit --json', '--limit needs a value: --limit <n>'],
  ['rules list --limit 1 --limit 2', '--limit is given twice.'],
  ['rules list --json=yes', '--json takes no value.'],
  ['rules list --limit 0', '--limit takes a whole number from 1 to 1000, not "0".'],
  ['rules list extra', '"extra" is one word too many. Text with spaces needs quotes.'],
  ['rules get', '<rule id> is required.'],
  ['rules create --x cats', '--name is required.'],
  ['syntax y', '<x|firehose> takes x or firehose, not "y".'],
  ['rules list --constructor', '--constructor is not an option of this command.'],
])('%s: %s', ([typed = '', words = '']) => {
  expect(() => parse(...typed.split(' '))).toThrow(words);
});

test('--help goes before what is missing', () => {
  expect(parse('rules', 'get', '-h')).toMatchObject({ isHelp: true });
});

/** What a shell would give to earshot, as far as the examples need it: quotes, pipes, and `<( … )`. */
function shellWords(example: string): string[] {
  const [, typed = ''] = /(?:^|\()earshot (.*)$/.exec(example) ?? [];
  const words = Array.from(typed.matchAll(/'([^']*)'|"([^"]*)"|([^\s)]+)/g), (found) => ({
    word: found[1] ?? found[2] ?? found[3] ?? '',
    isBare: found[3] !== undefined,
  }));
  const end = words.findIndex(({ word, isBare }) => isBare && /^[|<>]/.test(word));
  return words.slice(0, end === -1 ? undefined : end).map(({ word }) => word);
}

test.for(allCommands())('the examples in the help of $name are ones that it takes', ({ path, entry }) => {
  const help = helpOf(entry, path);
  for (const example of entry.examples) {
    expect(help).toContain(example);
    const words = shellWords(example);
    expect(words.slice(0, path.length)).toEqual(path);
    expect(() => parse(...words)).not.toThrow();
  }
});

test('every group and command says what it is for', () => {
  const check = (entry: Command | CommandGroup, path: readonly string[]) => {
    expect(entry.summary).toMatch(/^[a-zX].*[^.]$/);
    if (!isGroup(entry)) return;
    const names = entry.commands.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const one of entry.commands) check(one, [...path, one.name]);
  };
  check(earshotCommands, []);
});
