import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { expect, test } from 'vitest';
import { runCommand } from '../src/run-command.ts';

const { signal } = new AbortController();

test('a command gets the environment without the API key', async () => {
  const given = { ...env, EARSHOT_API_KEY: 'esk_secret', EARSHOT_URL: 'https://earshot.example' };
  const line =
    '[ -n "$PATH" ] && [ "$EARSHOT_URL" = https://earshot.example ] && [ -z "${EARSHOT_API_KEY+set}" ]';
  expect(await runCommand(line, { input: {}, env: given, signal })).toBe(0);
});

test('a command gets its input as one line that a terminal can print', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'earshot-command-'));
  const given = { ...env, OUTPUT: join(dir, 'input') };
  const input = { text: 'a\u009b31m\u007f\u202Eb\nc' };
  expect(await runCommand('cat > "$OUTPUT"', { input, env: given, signal })).toBe(0);
  const written = await readFile(join(dir, 'input'), 'utf8');
  await rm(dir, { recursive: true });
  expect(written).toMatch(/^[\x20-\x7e]+\n$/);
  expect(JSON.parse(written)).toEqual(input);
});
