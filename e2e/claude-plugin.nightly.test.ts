import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { repository } from './src/demo-process.ts';
import { startAgent } from './src/mcp-agent.ts';
import { shareWorld } from './src/shared-world.ts';
import type { ServerUnderTest, World } from './src/world.ts';

const run = promisify(execFile);
const plugin = join(repository, 'plugins/earshot');

let world: World;
let server: ServerUnderTest;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'earshot-claude-'));
  world = await shareWorld();
  server = await world.startServer();
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

/** Claude Code itself, in a home of the test. A proxy that does not exist keeps it on this machine. */
async function claude(line: string): Promise<string> {
  const [program, ...args] = line.split(' ');
  expect(program).toBe('claude');
  const { stdout } = await run(join(import.meta.dirname, 'claude-code/node_modules/.bin/claude'), args, {
    cwd: repository,
    env: {
      HOME: home,
      PATH: process.env['PATH'],
      TERM: 'dumb',
      HTTPS_PROXY: 'http://127.0.0.1:9',
      HTTP_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: '127.0.0.1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
  });
  return stdout;
}

test('the commands of the documentation install the plugin in Claude Code, which connects', async () => {
  const { key } = await world.newAccount();
  const page = await readFile(join(repository, 'docs/mcp.md'), 'utf8');
  const commands = page.match(/^claude plugin .*$/gm) ?? [];
  expect(commands).toHaveLength(2);
  // People may paste an address with a slash at its end.
  const given = (line: string) =>
    line.replace(/<address of the server>/, `${server.url}/`).replace(/<a key for this agent>/, key);
  for (const command of commands) await claude(given(command));
  expect(await claude('claude mcp list')).toMatch(/^plugin:earshot:earshot: .* Connected$/m);
});

test('Claude Code finds nothing wrong with the plugin and the marketplace', async () => {
  for (const path of ['plugins/earshot', '.'])
    expect(await claude(`claude plugin validate --strict ${path}`)).toContain('Validation passed');
});

test('the skill names tools that the server has', async () => {
  const { key } = await world.newAccount();
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  const url = new URL('/mcp', server.url);
  await using agent = await startAgent(new StreamableHTTPClientTransport(url, { requestInit }));
  const skill = await readFile(join(plugin, 'skills/earshot/SKILL.md'), 'utf8');
  const [, sentence = ''] = /If you have Earshot's tools \((.+?)\)/.exec(skill) ?? [];
  const named = sentence.match(/\w+_\w+/g) ?? [];
  expect(named.length).toBeGreaterThan(2);
  expect(agent.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(named));
  expect(await agent.call('list_rules', {}, z.object({ rules: z.array(z.unknown()) }))).toEqual({
    rules: [],
  });
});
