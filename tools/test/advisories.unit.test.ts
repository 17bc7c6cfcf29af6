import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const script = join(import.meta.dirname, '../advisories.ts');

/** `pnpm advisories` with a registry on this machine that answers like this. */
async function askRegistry(status: number, advisories: object) {
  const asked: string[] = [];
  const registry = createServer((request, response) => {
    request.resume();
    asked.push(request.url ?? '');
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(advisories));
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  const { port } = registry.address() as AddressInfo;
  const child = spawn(process.execPath, [script, '--registry', `http://127.0.0.1:${port}/`]);
  const [said, warned, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  registry.close();
  return { code, said, warned, asked };
}

const advisory = {
  id: 1,
  url: 'https://advisories.example/1',
  title: 'made up',
  severity: 'high',
  vulnerable_versions: '<99',
  cwe: [],
  cvss: { score: 7, vectorString: null },
};

test('no known advisory is 0', async () => {
  const { code, said, asked } = await askRegistry(200, {});
  expect({ code, said }).toEqual({ code: 0, said: expect.stringMatching(/^0 known advisories for \d\d+ /) });
  expect(asked).toHaveLength(1);
});

test('one for a package that runs in production is 1, and said', async () => {
  const { code, said } = await askRegistry(200, { fastify: [advisory] });
  expect({ code, said }).toEqual({ code: 1, said: expect.stringContaining('high: fastify <99: made up') });
});

test.each([404, 405])('a registry that answers %i leaves it open: 2', async (status) => {
  const { code, warned } = await askRegistry(status, {});
  expect({ code, warned }).toEqual({ code: 2, warned: expect.stringContaining('Not established') });
});
