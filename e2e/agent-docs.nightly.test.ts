import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { operations } from '@earshot/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { repository } from './src/demo-process.ts';
import { shareWorld } from './src/shared-world.ts';
import type { ServerUnderTest, World } from './src/world.ts';

let world: World;
let server: ServerUnderTest;

beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** The lines of all fenced `sh` blocks of a page. */
function shellLines(markdown: string): string[] {
  return [...markdown.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = '']) =>
    block.trimEnd().split('\n'),
  );
}

type Variables = Record<string, string>;

/** `export RULE_ID=<rule_id of the answer>`: what a reader copies from the last answer. */
function copied(line: string, answer: unknown): Variables {
  return Object.fromEntries(
    Array.from(line.matchAll(/(\w+)=<(\w+) of the answer>/g), ([, name = '', field = '']) => [
      name,
      String(Object(answer)[field]),
    ]),
  );
}

interface Asked {
  readonly path: string;
  readonly answer: unknown;
}

/** Runs the commands of a page one after the other, as a reader would, and checks each answer against the contract. */
async function runPage(path: string, post: string): Promise<Asked[]> {
  const account = await world.newAccount();
  const lines = shellLines(await readFile(join(repository, path), 'utf8'));
  let variables: Variables = { EARSHOT_URL: server.url, EARSHOT_API_KEY: account.key };
  const asked: Asked[] = [];
  for (const line of lines) {
    if (line.startsWith('export EARSHOT_URL=')) continue;
    if (line.startsWith('export ')) {
      variables = { ...variables, ...copied(line, asked.at(-1)?.answer) };
      continue;
    }
    const [, asksFor = ''] = /^curl -s "\$EARSHOT_URL(\/[^"]+)"/.exec(line) ?? [];
    const operation = Object.values(operations).find((one) => one.path === asksFor);
    if (operation === undefined) throw new Error(`${path} has a line that asks for no operation: ${line}`);
    if (asksFor === '/api.ReadMatches') await world.sandbox.posts([post]);
    const env = { PATH: process.env['PATH'], ...variables };
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', line], { env });
    const answer: unknown = JSON.parse(stdout);
    expect([line, operation.answer.safeParse(answer).error]).toEqual([line, undefined]);
    asked.push({ path: asksFor, answer });
  }
  return asked;
}

const answersTo = (asked: readonly Asked[], path: string) =>
  asked.filter((one) => one.path === path).map(({ answer }) => answer);

describe.each([
  ['docs/agents/README.md', 'Aurora visible right now'],
  ['skills/earshot/SKILL.md', 'Another heat pump recall'],
])('the commands of %s', (path, post) => {
  test('do what they say, from the draft to the end', async () => {
    const asked = await runPage(path, post);
    const [validated] = answersTo(asked, '/api.ValidateRule');
    expect(validated).toMatchObject({ platforms: { x: { valid: true } }, example_violations: [] });
    const [read] = answersTo(asked, '/api.ReadMatches');
    expect(read).toMatchObject({ matches: [{ payload: { text: post }, why: { verdict: 'match' } }] });
    expect(answersTo(asked, '/api.AckMatches')).toMatchObject([{ moved: true }]);
    expect(answersTo(asked, '/api.GetCoverage')).toHaveLength(1);
    expect(answersTo(asked, '/api.PauseRule')).toMatchObject([{ state: 'paused' }]);
  });
});

test('the skill has the front matter by which agents find it', async () => {
  const skill = await readFile(join(repository, 'skills/earshot/SKILL.md'), 'utf8');
  const [, front = ''] = /^---\n(.*?)\n---\n/s.exec(skill) ?? [];
  const fields = new Map(
    front.split('\n').map((line) => [line.split(': ')[0], line.slice(line.indexOf(': ') + 2)]),
  );
  expect(fields.get('name')).toBe('earshot');
  expect(fields.get('description')?.length).toBeGreaterThan(50);
  expect(fields.get('description')?.length).toBeLessThanOrEqual(1_024);
  expect(skill.split('\n').length).toBeLessThan(500);
});

describe('llms.txt', () => {
  test('is served without a key, and everything that it links to exists', async () => {
    const answer = await fetch(`${server.url}/llms.txt`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const links = Array.from((await answer.text()).matchAll(/\]\((\/[^)]*)\)/g), ([, link = '']) => link);
    expect(links).toEqual(expect.arrayContaining(['/docs', '/openapi.json', '/rules.schema.json']));
    for (const link of links) {
      // What MCP answers to a plain GET is its own affair; that it is there is not.
      const { status } = await fetch(`${server.url}${link}`);
      if (link === '/mcp') expect(status).not.toBe(404);
      else expect([link, status]).toEqual([link, 200]);
    }
  });
});
