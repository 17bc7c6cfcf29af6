import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { runCommand } from '../src/run-command.ts';

afterEach(() => vi.unstubAllEnvs());
const { signal } = new AbortController();

test('a command gets the environment without the API key', async () => {
  vi.stubEnv('EARSHOT_API_KEY', 'esk_secret');
  vi.stubEnv('EARSHOT_URL', 'https://earshot.example');
  const line =
    '[ -n "$PATH" ] && [ "$EARSHOT_URL" = https://earshot.example ] && [ -z "${EARSHOT_API_KEY+set}" ]';
  expect(await runCommand(line, { input: {}, signal })).toBe(0);
});

test('a command gets its input as one line that a terminal can print', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-command-'));
  vi.stubEnv('OUTPUT', join(dir, 'input'));
  const input = { text: 'a\u009b31m\u007f\u202Eb\nc' };
  expect(await runCommand('cat > "$OUTPUT"', { input, signal })).toBe(0);
  const written = await readFile(join(dir, 'input'), 'utf8');
  await rm(dir, { recursive: true });
  expect(written).toMatch(/^[\x20-\x7e]+\n$/);
  expect(JSON.parse(written)).toEqual(input);
});
