import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { shareWorld } from './src/shared-world.ts';
import type { ServerUnderTest, World } from './src/world.ts';

const dir = join(import.meta.dirname, 'conformance');
const inspector = 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js';

let world: World;
let server: ServerUnderTest;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'earshot-inspector-'));
  world = await shareWorld();
  server = await world.startServer();
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

const listed = z.object({
  result: z.object({ tools: z.array(z.unknown()).min(10) }),
  schemaFindings: z.array(
    z.object({
      toolName: z.string(),
      findings: z.array(z.object({ schema: z.enum(['inputSchema', 'outputSchema']), path: z.string() })),
    }),
  ),
});

/** The inspector exits with an error if a schema has one. Its warnings are in its answer. */
async function inspect(era: string) {
  const { key } = await world.newAccount();
  const options = ['--protocol-era', era, '--method', 'tools/list', '--strict', '--format', 'json'];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [inspector, '--cli', `${server.url}/mcp`, '--header', `Authorization: Bearer ${key}`, ...options],
    { cwd: dir, maxBuffer: 64 * 1024 ** 2, env: { HOME: home, PATH: process.env['PATH'] } },
  ).catch((error: { stderr?: string }) => {
    throw new Error(String(error.stderr).slice(-6_000));
  });
  const { schemaFindings } = listed.parse(JSON.parse(stdout));
  return (schema: 'inputSchema' | 'outputSchema') =>
    schemaFindings
      .flatMap(({ toolName, findings }) =>
        findings.filter((one) => one.schema === schema).map(({ path }) => `${toolName} ${path}`),
      )
      .toSorted();
}

test.each(['legacy', 'modern'])(
  'the inspector warns of no input, and only of the listed outputs (%s protocol)',
  async (era) => {
    const list = await readFile(join(dir, 'expected-inspector-warnings.yaml'), 'utf8');
    const expected = Array.from(list.matchAll(/^ *- (\S+ \S+) # .{10,}$/gm), ([, warning = '']) => warning);
    const warnings = await inspect(era);
    expect(warnings('inputSchema')).toEqual([]);
    expect(warnings('outputSchema')).toEqual(expected.toSorted());
  },
);
