import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { operations } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  makeTempDir,
  processesOf,
  type RunningCommand,
  repository,
  startCommand,
} from './src/demo-process.ts';

/** The fenced `sh` blocks of one section, each as its lines. */
function shellBlocks(markdown: string, section: string): string[][] {
  const body = markdown.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '';
  return [...body.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block.trimEnd().split('\n'));
}

let tempDir: string;
let demo: RunningCommand | undefined;
let blocks: string[][];

beforeAll(async () => {
  tempDir = await makeTempDir();
  blocks = shellBlocks(await readFile(join(repository, 'README.md'), 'utf8'), 'Quick start');
});
afterAll(async () => {
  demo?.process.kill('SIGTERM');
  await demo?.exited;
  await eventually(async () => expect(await processesOf(tempDir)).toEqual([]), { timeoutMs: 20_000 });
  const left = await readdir(tempDir);
  await rm(tempDir, { recursive: true, force: true });
  expect(left).toEqual([]);
});

test('the section "Quick start" has the demo command and a block of curl commands', () => {
  expect(blocks).toHaveLength(2);
  expect(blocks[0]).toEqual(['./dev demo']);
  expect(blocks[1]?.[0]).toMatch(/^export EARSHOT_URL=\S+ EARSHOT_API_KEY=<.+>$/);
  const paths = blocks[1]?.slice(1).map((line) => /^curl -s "\$EARSHOT_URL(\/\S+)"/.exec(line)?.[1]);
  expect(paths).toEqual(['/api.CreateRule', '/api.ListRules', '/matches']);
});

test('its commands do what they say, one after the other', async () => {
  const [[start = ''] = [], [, ...curls] = []] = blocks;
  demo = startCommand('/bin/sh', ['-c', `exec ${start}`], tempDir);
  const [, url = ''] = await demo.line(/^API\s+(\S+)$/);
  const [, key = ''] = await demo.line(/^Key\s+(\S+)$/);
  // The first match on the screen: from here on the last command has something to list.
  await demo.line(/^\d\d:\d\d:\d\d {2}(x|firehose) /);

  const run = async (command = '') => {
    const env = { ...process.env, EARSHOT_URL: url, EARSHOT_API_KEY: key };
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command], { env });
    return stdout;
  };
  const created = operations.CreateRule.answer.parse(JSON.parse(await run(curls[0])));
  const listed = operations.ListRules.answer.parse(JSON.parse(await run(curls[1])));
  expect(listed.rules.map(({ id }) => id)).toContain(created.rule_id);
  const { matches } = operations.ListMatches.answer.parse(JSON.parse(await run(curls[2])));
  expect(matches.length).toBeGreaterThan(0);
  expect(matches.length).toBeLessThanOrEqual(5);
});

test('the commands of "From the command line" do what they say', async () => {
  const readme = await readFile(join(repository, 'README.md'), 'utf8');
  const [[exported = '', ...commands] = []] = shellBlocks(readme, 'From the command line');
  expect(exported).toMatch(/^export EARSHOT_URL=\S+ EARSHOT_API_KEY=<.+>$/);
  const [, url = ''] = /^API\s+(\S+)$/m.exec(demo?.stdout() ?? '') ?? [];
  const [, key = ''] = /^Key\s+(\S+)$/m.exec(demo?.stdout() ?? '') ?? [];
  const env = { ...process.env, EARSHOT_URL: url, EARSHOT_API_KEY: key };
  const expected = [
    /^valid on x/m,
    /^rule_\w+ is created\.$/m,
    /^(\d\d:\d\d:\d\d .*\n){5}/m,
    /^(\d\d:\d\d:\d\d .*\n){3}/m,
  ];
  expect(commands).toHaveLength(expected.length);
  // So many does the list show at most.
  const onScreen = () => demo?.stdout().match(/^\d\d:\d\d:\d\d {2}(x|firehose) /gm)?.length ?? 0;
  await eventually(() => onScreen() >= 5, { timeoutMs: 60_000 });
  for (const [index, command] of commands.entries()) {
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command], { env, cwd: repository });
    expect(stdout).toMatch(expected[index] ?? /^$/);
  }
});

test('the commands that the demo itself prints work when they are pasted', async () => {
  const lines = (demo?.stdout() ?? '').split('\n');
  const printed = lines.filter((line) => line.startsWith('curl '));
  expect(printed).toHaveLength(3);
  for (const command of printed) {
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `${command} -w '\n%{http_code}'`]);
    expect(stdout).toMatch(/\n200$/);
  }
  const exported = lines.find((line) => line.startsWith('export EARSHOT_URL='));
  const [list, help, ...more] = lines.filter((line) => line.startsWith('./dev earshot '));
  expect(more).toEqual([]);
  const pasted = [exported, list, help].join('\n');
  const { stdout } = await promisify(execFile)('/bin/sh', ['-ec', pasted], { cwd: repository });
  expect(stdout).toMatch(/Rockets, outages and chips[\s\S]*earshot <command> --help shows the options/);
});
