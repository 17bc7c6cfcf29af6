import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { repository } from './src/demo-process.ts';
import { startAgent } from './src/mcp-agent.ts';
import { shareWorld } from './src/shared-world.ts';
import type { ServerUnderTest, World } from './src/world.ts';

const plugin = join(repository, 'plugins/earshot');
const configSchema = z.strictObject({
  mcpServers: z.strictObject({
    earshot: z.strictObject({
      type: z.literal('http'),
      url: z.url(),
      headers: z.record(z.string(), z.string()),
    }),
  }),
});

let world: World;
let server: ServerUnderTest;
beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
});
afterAll(() => world?.[Symbol.asyncDispose]());

test('the Claude Code plugin reaches the tools that its skill names', async () => {
  const { key } = await world.newAccount();
  const variables = new Map([
    ['EARSHOT_URL', server.url],
    ['EARSHOT_API_KEY', key],
  ]);
  // As Claude Code does it.
  const expanded = (await readFile(join(plugin, '.mcp.json'), 'utf8')).replace(
    /\$\{(\w+)\}/g,
    (whole, name: string) => variables.get(name) ?? whole,
  );
  const { url, headers } = configSchema.parse(JSON.parse(expanded)).mcpServers.earshot;
  await using agent = await startAgent(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  );
  const skill = await readFile(join(plugin, 'skills/earshot/SKILL.md'), 'utf8');
  const [, sentence = ''] = /If you have Earshot's tools \((.+?)\)/.exec(skill) ?? [];
  const named = sentence.match(/\w+_\w+/g) ?? [];
  expect(named.length).toBeGreaterThan(2);
  expect(agent.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(named));
  expect(await agent.call('list_rules', {}, z.object({ rules: z.array(z.unknown()) }))).toEqual({
    rules: [],
  });
});
