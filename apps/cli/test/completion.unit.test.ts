import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { placesOf, scripts } from '../src/commands/completion.ts';
import { earshotCommands } from '../src/commands.ts';
import { allCommands } from './all-commands.ts';

const run = promisify(execFile);
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'earshot-completion-'));
  await writeFile(join(dir, 'earshot.bash'), scripts.bash(placesOf(earshotCommands)));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** The completions of bash for the last word of each line. */
async function completionsOf(lines: readonly (readonly string[])[]): Promise<string[][]> {
  const script = `source "$1"; shift
    complete -p earshot >/dev/null || exit 3
    for line; do
      IFS=' ' read -ra COMP_WORDS <<< "earshot $line"
      [[ $line == *' ' || -z $line ]] && COMP_WORDS+=('')
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _earshot; echo "\${COMPREPLY[*]}"
    done`;
  const words = lines.map((line) => line.join(' '));
  const args = ['--norc', '-c', script, 'bash', join(dir, 'earshot.bash'), ...words];
  const { stdout } = await run('bash', args);
  return stdout
    .trimEnd()
    .split('\n')
    .map((offered) => offered.split(' ').filter(Boolean));
}

const completions = async (...words: string[]): Promise<string[]> => (await completionsOf([words]))[0] ?? [];

test('bash completes commands, their commands, options and values', async () => {
  expect(await completions('ru')).toEqual(['rules']);
  expect(await completions('rules', '')).toEqual([
    'create',
    'list',
    'get',
    'update',
    'pause',
    'resume',
    'delete',
    'validate',
    'relevance',
    '--help',
  ]);
  expect(await completions('rules', 'delete', 'rule_1', '--y')).toEqual(['--yes']);
  expect(await completions('matches', 'tail', '--platform', '')).toEqual(['x', 'firehose', 'bluesky']);
  expect(await completions('matches', 'tail', '--platform', 'x', '--li')).toEqual(['--limit']);
  expect(await completions('admin', 'dead-letters', 'r')).toEqual(['retry']);
  expect(await completions('syntax', 'f')).toEqual(['firehose']);
  expect(await completions('--json', 'ru')).toEqual(['rules']);
  expect(await completions('rules', 'create', '--name', 'rules', '--inte')).toEqual(['--intent']);
});

test('bash completes nothing after an option with a free value', async () => {
  expect(await completions('rules', 'create', '--name', '')).toEqual([]);
});

test('bash knows every option of every command', async () => {
  const commands = allCommands();
  const offered = await completionsOf(commands.map(({ path }) => [...path, '--']));
  for (const [index, { entry }] of commands.entries()) {
    const expected = [...Object.keys(entry.options), 'json', 'no-color', 'help'].map((name) => `--${name}`);
    expect(offered[index]?.toSorted()).toEqual(expected.toSorted());
  }
});

test('the scripts for zsh and fish have every command and option', () => {
  const places = placesOf(earshotCommands);
  const [zsh, fish] = [scripts.zsh(places), scripts.fish(places)];
  for (const { name, entry } of allCommands()) {
    const zshLine = zsh.split('\n').find((line) => line.includes(`' earshot ${name}') offered=`));
    const fishLine = fish.split('\n').find((line) => line.includes(`case ' earshot ${name}'; set offered `));
    for (const option of Object.keys(entry.options)) {
      expect(zshLine).toContain(`--${option} `);
      expect(fishLine).toContain(`--${option} `);
    }
  }
});
