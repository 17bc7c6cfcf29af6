import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const node = pathToFileURL(`${import.meta.dirname}/../src/compose/node.ts`).href;

/** Every module that a node loads before it reads its configuration, and what Node itself loads for them. */
const script = `
  const { registerHooks } = await import('node:module');
  const loaded = new Set();
  registerHooks({ load: (url, context, next) => (loaded.add(url), next(url, context)) });
  await import(${JSON.stringify(node)});
  console.log(JSON.stringify([...loaded, ...process.moduleLoadList]));
`;

test('a start loads only modules that every node needs', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
    maxBuffer: 16 * 1024 * 1024,
  });
  const loaded: string[] = JSON.parse(stdout);
  expect(loaded).toContain(node);
  const left = [
    'oidc-provider',
    'nodemailer',
    'exporter-trace-otlp',
    '@modelcontextprotocol',

    'internal/deps/undici',
  ];
  for (const name of left) expect(loaded.filter((one) => one.includes(name))).toEqual([]);
  // Each costs half a millisecond of every start.
  expect(loaded.filter((one) => one.startsWith('file:')).length).toBeLessThan(1_100);
});
