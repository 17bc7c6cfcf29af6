import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { overStdio, startAgent } from './src/mcp-agent.ts';
import { shareWorld } from './src/shared-world.ts';
import type { Account, ServerUnderTest, World } from './src/world.ts';

const cliScript = fileURLToPath(new URL('../apps/cli/src/main.ts', import.meta.url));

let world: World;
let server: ServerUnderTest;
let account: Account;
beforeAll(async () => {
  world = await shareWorld();
  server = await world.startServer();
  account = await world.newAccount();
});
afterAll(() => world?.[Symbol.asyncDispose]());

const http = () =>
  new StreamableHTTPClientTransport(new URL('/mcp', server.url), {
    requestInit: { headers: { authorization: `Bearer ${account.key}` } },
  });
const stdio = () =>
  new StdioClientTransport({
    command: process.execPath,
    args: [cliScript, 'mcp'],
    env: { EARSHOT_URL: server.url, EARSHOT_API_KEY: account.key },
  });

const broken = { name: 'a', intent: 'b', platforms: ['x'], overrides: { x: 'rocket AND launch' } };

describe.each([
  { transport: 'HTTP', connect: http },
  { transport: 'stdio', connect: stdio },
])('the client of 2025-11-25 over $transport', ({ connect }) => {
  test('calls tools, validates their answers against the schemas, and handles a refusal', async () => {
    const client = new Client({ name: 'older', version: '1' });
    await client.connect(connect());
    try {
      const { tools } = await client.listTools();
      expect(tools).toHaveLength(20);
      const listed = await client.callTool({ name: 'list_rules', arguments: {} });
      expect(listed.structuredContent).toMatchObject({ shown: expect.any(Number) });
      const refused = await client.callTool({ name: 'create_rule', arguments: broken });
      expect(refused).toMatchObject({ isError: true });
      expect(JSON.stringify(refused.content)).toContain('rocket launch');
      const { contents } = await client.readResource({ uri: 'earshot://syntax/x' });
      expect(contents).toHaveLength(1);
    } finally {
      await client.close();
    }
  });
});

test('the tools on stdio report a key that does not work', async () => {
  const key = `esk_${'0'.repeat(38)}`;
  await using agent = await startAgent(overStdio({ url: server.url, key }));
  expect(await agent.refused('list_rules', {})).toMatchObject({
    code: 'unauthenticated',
    what_to_do: expect.stringContaining('valid Earshot API key'),
  });
});

test('the configurations in docs/mcp.md connect a client', async () => {
  const page = await readFile(new URL('../docs/mcp.md', import.meta.url), 'utf8');
  const configurations = [...page.matchAll(/^```json\n(.*?)^```$/gms)].map(([, json = '']) =>
    configuration.parse(
      JSON.parse(
        json
          .replace('http://127.0.0.1:8080', server.url)
          .replace('esk_…', account.key)
          .replace('/opt/earshot/earshot.mjs', cliScript),
      ),
    ),
  );
  expect(configurations).toHaveLength(2);
  for (const { mcpServers } of configurations) {
    const client = new Client({ name: 'configured', version: '1' });
    await client.connect(transportOf(mcpServers.earshot));
    expect((await client.listTools()).tools).toHaveLength(20);
    await client.close();
  }
});

const configuration = z.object({
  mcpServers: z.object({
    earshot: z.union([
      z.object({ type: z.literal('http'), url: z.string(), headers: z.record(z.string(), z.string()) }),
      z.object({
        command: z.literal('node'),
        args: z.array(z.string()),
        env: z.record(z.string(), z.string()),
      }),
    ]),
  }),
});

function transportOf(configured: z.output<typeof configuration>['mcpServers']['earshot']) {
  return 'url' in configured
    ? new StreamableHTTPClientTransport(new URL(configured.url), {
        requestInit: { headers: configured.headers },
      })
    : new StdioClientTransport({ ...configured, command: process.execPath });
}
