import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { at } from './client.ts';

vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

const mainFile = fileURLToPath(new URL('../src/main.ts', import.meta.url));

test.each(['SIGTERM', 'SIGINT'] as const)(
  'the process says where it listens and ends on %s',
  async (signal) => {
    const flags = '--port 0 --x-token one --x-token two --tap-token fh_one --feed 50,20'.split(' ');
    const child = spawn(process.execPath, [mainFile, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(createInterface(child.stdout), 'line');
    const url = at(JSON.parse(String(line)), 'url');
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:[0-9]+$/);

    const rules = `${String(url)}/2/tweets/search/stream/rules`;
    const status = async (token: string) =>
      (await fetch(rules, { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await status('one'), await status('two'), await status('sandbox-x-token')]).toEqual([
      200, 200, 401,
    ]);

    const authorization = 'Bearer fh_one';
    await fetch(`${String(url)}/v1/rules`, {
      method: 'POST',
      headers: { authorization },
      body: JSON.stringify({ value: 'language:"en"' }),
    });
    const stream = await fetch(`${String(url)}/v1/stream?limit=1`, { headers: { authorization } });
    expect(await stream.text()).toContain('event: update');

    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
  },
);
