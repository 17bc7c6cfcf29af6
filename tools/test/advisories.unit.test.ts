import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';

const script = join(import.meta.dirname, '../advisories.ts');

/** Runs `pnpm advisories` with a registry on this machine that answers like this. */
async function runWithRegistry(status: number, advisories: object) {
  const requests: string[] = [];
  const registry = createServer((request, response) => {
    request.resume();
    requests.push(request.url ?? '');
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
  return { code, said, warned, requests };
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

test('exits with 0 without known advisories', async () => {
  const { code, said, requests } = await runWithRegistry(200, {});
  expect({ code, said }).toEqual({ code: 0, said: expect.stringMatching(/^0 known advisories for \d\d+ /) });
  expect(requests).toHaveLength(1);
});

test('exits with 1 and prints an advisory for a production package', async () => {
  const { code, said } = await runWithRegistry(200, { fastify: [advisory] });
  expect({ code, said }).toEqual({ code: 1, said: expect.stringContaining('high: fastify <99: made up') });
});

test.each([404, 405])('exits with 2 if the registry answers %i', async (status) => {
  const { code, warned } = await runWithRegistry(status, {});
  expect({ code, warned }).toEqual({ code: 2, warned: expect.stringContaining('Unknown') });
});
