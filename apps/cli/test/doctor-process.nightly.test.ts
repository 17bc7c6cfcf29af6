import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { defaultXToken, type Sandbox } from '@earshot/sandbox';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { control, pace, startUpstreams } from './doctor-bench.ts';

const main = join(import.meta.dirname, '../src/main.ts');
let dir: string;
let sandbox: Sandbox;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'earshot-doctor-'));
  await writeFile(join(dir, 'token'), `${defaultXToken}\n`);
  sandbox = await startUpstreams();
});
afterEach(async () => {
  await sandbox.close();
  await rm(dir, { recursive: true, force: true });
});

function start(args: readonly string[], env: Record<string, string> = {}) {
  const urls = { EARSHOT_X_BASE_URL: sandbox.url, EARSHOT_FIREHOSE_BASE_URL: sandbox.url };
  const child = spawn(process.execPath, [main, 'doctor', ...args], {
    cwd: dir,
    env: { PATH: process.env['PATH'], EARSHOT_TEST: `upstreamPace=${pace}`, ...urls, ...env },
  });
  const outcome = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  return {
    child,
    outcome: outcome.then(([[code], stdout, stderr]) => ({ code: Number(code), stdout, stderr })),
  };
}

test('reads a token from a file, and neither prints nor reports it', async () => {
  const { code, stdout, stderr } = await start(['--x-token-file', 'token', '--report', 'report.json'])
    .outcome;
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('X4  the stream of a rule') });
  expect(stdout).toMatch(/X-7 +agrees +Second connection +refused with 429/);
  const report = await readFile(join(dir, 'report.json'), 'utf8');
  expect(JSON.parse(report)).toMatchObject({ plan: 'payg', left_behind: 0 });
  expect(report + stdout + stderr).not.toContain(defaultXToken);
});

test('exits with 1 if an assumption is wrong', async () => {
  await control(sandbox, 'x/knobs', { usage: 'not_enrolled' });
  const env = { EARSHOT_X_TOKENS: `main=${defaultXToken},second=other` };
  const { code, stdout } = await start(['--steps', 'X0', '--json'], env).outcome;
  expect(code).toBe(1);
  const { assumptions } = JSON.parse(stdout);
  expect(assumptions).toContainEqual(
    expect.objectContaining({
      number: 'X-47',
      verdict: 'differs',
      observed: expect.stringContaining('client-not-enrolled'),
    }),
  );
});

test('Ctrl+C deletes its rules, closes its stream and exits with 130', async () => {
  const { child, outcome } = start(['--x-token-file', 'token', '--steps', 'X3,X4']);
  const during = { connections: { open: 1 }, rules: [{ tag: expect.stringMatching(/^earshot:doctor:/) }] };
  await vi.waitFor(async () => expect(await control(sandbox, 'x/state')).toMatchObject(during), {
    timeout: 30_000,
    interval: 5,
  });
  child.kill('SIGINT');
  expect(await outcome).toMatchObject({ code: 130 });
  expect(await control(sandbox, 'x/state')).toMatchObject({ connections: { open: 0 }, rules: [] });
  const { steps } = JSON.parse(await readFile(join(dir, 'earshot-doctor.json'), 'utf8'));
  expect(steps).toEqual([
    { step: 'X3', outcome: 'done' },
    { step: 'X4', outcome: 'interrupted', why: 'interrupted' },
  ]);
});

test('refuses a busy rule that is too broad', async () => {
  const args = ['--x-token-file', 'token', '--steps', 'X5', '--spend', '1', '--busy-rule'];
  expect(await start([...args, 'happy']).outcome).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('too broad'),
  });
  expect(await control(sandbox, 'x/state')).toMatchObject({ rule_calls: { list: { made: 0 } } });
});

test('without a token, only F0 runs', async () => {
  expect(await start([]).outcome).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--x-token-file'),
  });
  const { code, stdout } = await start(['--steps', 'F0']).outcome;
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/F-29 +agrees/) });
});
