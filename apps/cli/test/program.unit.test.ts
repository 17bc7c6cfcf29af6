import { expect, test, vi } from 'vitest';
import { type Command, type CommandGroup, isGroup } from '../src/command.ts';
import { earshotCommands } from '../src/commands.ts';
import { createProgram, type Typed } from '../src/program.ts';
import { allCommands } from './all-commands.ts';

/** Parses a command line, and returns the input of the command. */
async function parse(...words: string[]): Promise<Typed | undefined> {
  let parsed: Typed | undefined;
  const program = createProgram(earshotCommands, async (_, typed) => {
    parsed = typed;
  });
  await program.parseAsync(words, { from: 'user' });
  return parsed;
}

async function helpOf(...words: string[]): Promise<string> {
  let help = '';
  const written = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    help += String(text);
    return true;
  });
  try {
    await expect(parse(...words, '--help')).rejects.toMatchObject({ exitCode: 0 });
  } finally {
    written.mockRestore();
  }
  return help;
}

test('options and arguments may be in any order', async () => {
  const words = ['--json', 'rules', 'update', '--name', 'A', 'rule_1', '--x=-is:retweet', '--no-color'];
  expect(await parse(...words)).toMatchObject({
    options: { name: 'A', x: '-is:retweet', intent: undefined, 'never-expires': false },
    args: { rule: 'rule_1' },
    isJson: true,
    noColor: true,
  });
  expect(await parse('rules', 'update', 'rule_1', '--never-expires', '--json')).toMatchObject({
    options: { 'never-expires': true },
    isJson: true,
    noColor: false,
  });
});

test('several rules are given one by one, or with commas', async () => {
  const words = 'webhooks create --name a --url https://a.example --rule rule_1 --rule rule_2,rule_3';
  expect(await parse(...words.split(' '))).toMatchObject({
    options: { rule: ['rule_1', 'rule_2', 'rule_3'] },
  });
});

test('a query may begin with a dash', async () => {
  expect(await parse('rules', 'validate', '--x', '-is:retweet cats')).toMatchObject({
    options: { x: '-is:retweet cats' },
  });
});

test.for([
  ['ruls list', "Unknown command 'ruls'. Did you mean rules?"],
  ['rules valdate', "Unknown command 'valdate'. Did you mean validate?"],
  [
    'webhooks frobnicate',
    "Unknown command 'frobnicate'. There are: list, create, update, retry, delete, rotate-secret, test, deliveries, replay.",
  ],
  ['rules list --limt 3', "Unknown option '--limt'. Did you mean --limit?"],
  ['rules validate -x a', "Unknown option '-x'."],
  ['rules --limit 3', "Unknown option '--limit'."],
  ['rules list --limit', "Option '--limit <n>' argument missing."],
  ['rules list --limit --json', "Option '--limit <n>' argument missing."],
  ['rules create --x cats --name --accept-suspicious', '--name needs a value: --name <name>'],
  ['rules list --limit 1 --limit 2', '--limit is given twice.'],
  ['rules list --json=yes', "Unknown option '--json=yes'."],
  ['rules list --limit 0', '--limit takes a whole number from 1 to 1000, not "0".'],
  ['rules list extra', "Too many arguments for 'list'. Expected 0 arguments but got 1: extra."],
  ['rules get', "Missing required argument 'rule id'."],
  ['rules create --x cats', '--name is required.'],
  ['rules create --nam A', "Unknown option '--nam'. Did you mean --name?"],
  ['syntax y', '<x|firehose|bluesky> takes x or firehose or bluesky, not "y".'],
  ['rules list --constructor', "Unknown option '--constructor'."],
])('%s: %s', async ([typed = '', words]) => {
  await expect(parse(...typed.split(' '))).rejects.toMatchObject({ ending: 'usage', message: words });
});

test('a required value must not be empty', async () => {
  await expect(parse('rules', 'get', '')).rejects.toThrow('<rule id> is required.');
});

test('--help works without required options', async () => {
  const help = await helpOf('rules', 'create');
  expect(help).toContain('Usage: earshot rules create --name <name> [options]');
  expect(help).toMatch(/^ {2}--name <name> +name of the rule, for people \(required\)$/m);
});

test('the help of a group lists its commands, and the help of the program has headings', async () => {
  expect(await helpOf()).toMatch(/^Rules:\n {2}rules +create/m);
  const help = await helpOf('admin', 'accounts');
  expect(help).toContain('Usage: earshot admin accounts <command> [options]');
  expect(help).toMatch(/^Commands:\n {2}list +list all accounts/m);
});

/** Splits a command line like a shell, as far as the examples need it: quotes, pipes, and `<( … )`. */
function shellWords(example: string): string[] {
  const [, typed = ''] = /(?:^|\()earshot (.*)$/.exec(example) ?? [];
  const words = Array.from(typed.matchAll(/'([^']*)'|"([^"]*)"|([^\s)]+)/g), (found) => ({
    word: found[1] ?? found[2] ?? found[3] ?? '',
    isBare: found[3] !== undefined,
  }));
  const end = words.findIndex(({ word, isBare }) => isBare && /^[|<>]/.test(word));
  return words.slice(0, end === -1 ? undefined : end).map(({ word }) => word);
}

test.for(allCommands())(
  'the examples in the help of $name are ones that it takes',
  async ({ path, entry }) => {
    const help = await helpOf(...path);
    for (const example of entry.examples) {
      expect(help).toContain(example);
      const words = shellWords(example);
      expect(words.slice(0, path.length)).toEqual(path);
      expect(await parse(...words)).toBeDefined();
    }
  },
);

test('every group and command has a summary', () => {
  const check = (entry: Command | CommandGroup, path: readonly string[]) => {
    expect(entry.summary).toMatch(/^[a-zX].*[^.]$/);
    if (!isGroup(entry)) return;
    const names = entry.commands.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    for (const one of entry.commands) check(one, [...path, one.name]);
  };
  check(earshotCommands, []);
});
