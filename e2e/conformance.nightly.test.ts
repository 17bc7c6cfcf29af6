import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, request as send } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { listenOnLoopback } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ServerUnderTest, startWorld, type World } from './src/world.ts';

const dir = join(import.meta.dirname, 'conformance');

let world: World;
let server: ServerUnderTest;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** The suite sends no headers of ours, so the key is added on the way. The server has the address of the proxy. */
async function startProxy(key: string) {
  const proxy = createServer((request, response) => {
    const { host: _, ...headers } = request.headers;
    const onward = send(
      new URL(request.url ?? '', server.url),
      { method: request.method, headers: { ...headers, authorization: `Bearer ${key}` }, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  const port = await listenOnLoopback(proxy);
  return {
    url: `http://localhost:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      proxy.closeAllConnections();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

const runFile = promisify(execFile);

/** The suite fails if a scenario outside of the list fails, and if one of the list passes. */
async function conform(requirements: string): Promise<string> {
  const { key } = await world.newAccount();
  await using proxy = await startProxy(key);
  server = await world.startServer({ EARSHOT_PUBLIC_URL: new URL(proxy.url).origin });
  const { stdout } = await runFile(
    process.execPath,
    [
      join(dir, 'node_modules/@modelcontextprotocol/conformance/dist/index.js'),
      'server',
      `--url=${proxy.url}`,
      `--requirements=${requirements}`,
      `--expected-failures=${join(dir, `expected-failures-${requirements}.yaml`)}`,
    ],
    { cwd: dir, maxBuffer: 64 * 1024 ** 2, env: { PATH: process.env['PATH'] } },
  ).catch((error: { stdout?: string }) => {
    throw new Error(String(error.stdout).slice(-6_000));
  });
  return stdout;
}

test.each(['2025-11-25', '2026-07-28'])(
  'conforms to MCP %s, except for the listed scenarios',
  async (revision) => {
    expect(await conform(revision)).toMatch(/passed/);
  },
);

test('every expected failure has a reason', () => {
  for (const revision of ['2025-11-25', '2026-07-28']) {
    const lines =
      readFileSync(join(dir, `expected-failures-${revision}.yaml`), 'utf8').match(/^ +- .*$/gm) ?? [];
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines) expect(line).toMatch(/^ +- [\w/-]+ # .{10,}/);
  }
});
