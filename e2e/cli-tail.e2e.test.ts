import { execFile } from 'node:child_process';
import { eventually } from '@earshot/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type BuiltCli, buildCliOnce, type RunOptions, type Started } from './src/built-cli.ts';
import { type Account, type ServerUnderTest, startWorld, type World } from './src/world.ts';

let world: World;
let server: ServerUnderTest;
let account: Account;
let cli: BuiltCli;

beforeAll(async () => {
  world = await startWorld();
  server = await world.startServer();
  account = await world.newAccount();
  cli = await buildCliOnce(() => ({ EARSHOT_URL: server.url, EARSHOT_API_KEY: account.key }));
  await server.api(account).createRule({ x: 'comet' });
});
afterEach(() => cli.killStarted());
afterAll(async () => {
  await cli?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

const patiently = { timeoutMs: 60_000 };

const startTail = (words: readonly string[] = [], options: RunOptions = {}) =>
  cli.start(['matches', 'tail', ...words], options);

const linesOf = ({ output }: Started) => output.stdout.split('\n').filter(Boolean);

/** Sends posts, one after the other, until the tail prints one. The tail does not report when it starts to listen. */
async function untilShown(tail: Started): Promise<void> {
  await eventually(
    async () => {
      await world.sandbox.posts(['a comet to begin with']);
      expect(linesOf(tail)).not.toEqual([]);
    },
    { ...patiently, intervalMs: 300 },
  );
}

test.for([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('a tail ends cleanly on %s, with %i', async ([signal, code]) => {
  const tail = startTail(['--from', '1h']);
  await untilShown(tail);
  tail.process.kill(signal);
  expect(await tail.exited).toBe(code);
  expect(tail.output.stderr).toBe('');
  expect(tail.output.stdout).toMatch(/\n$/);
});

test('a tail exits without an error when its reader closes the pipe', async () => {
  const env = { PATH: process.env['PATH'], EARSHOT_URL: server.url, EARSHOT_API_KEY: account.key };
  const pipeline = `'${cli.file}' matches tail --from 1h | head -n 1; echo "ended with \${PIPESTATUS[0]}"`;
  const ended = new Promise<{ stdout: string; stderr: string }>((resolve) => {
    execFile('bash', ['--norc', '-c', pipeline], { env }, (_, stdout, stderr) => resolve({ stdout, stderr }));
  });
  const isOver = { yes: false };
  void ended.then(() => (isOver.yes = true));
  // The tail detects the closed pipe with its next write.
  await eventually(
    async () => {
      await world.sandbox.posts(['one more comet']);
      expect(isOver.yes).toBe(true);
    },
    { ...patiently, intervalMs: 300 },
  );
  expect(await ended).toEqual({
    stdout: expect.stringMatching(/^\d\d:.* comet .*\nended with 0\n$/),
    stderr: '',
  });
});

test('at a terminal a delete asks for confirmation, and "no" does nothing', async () => {
  const { rule_id } = await server.api(account).createRule({ x: 'asteroid' });
  const words = ['rules', 'delete', rule_id];
  const no = await cli.onTerminal(words, [['[y/N]', 'n\r']]);
  expect(no).toMatchObject({ code: 1, stdout: expect.stringContaining('Nothing was done.') });
  expect(await server.api(account).getRule(rule_id)).toMatchObject({ id: rule_id });
  const interrupted = await cli.onTerminal(words, [['[y/N]', '\u0003']]);
  expect(interrupted).toMatchObject({ code: 130 });
  const yes = await cli.onTerminal(words, [['[y/N]', 'y\r']]);
  expect(yes).toMatchObject({ code: 0, stdout: expect.stringContaining(`${rule_id} is deleted.`) });
});

test('at a terminal login prompts for its input and does not show the key', async () => {
  const env = { XDG_CONFIG_HOME: cli.dir, EARSHOT_URL: '', EARSHOT_API_KEY: '' };
  const answers = [
    ['[http://127.0.0.1:8080]:', `${server.url}\r`],
    ['API key', `${account.key}\r`],
  ] as const;
  const outcome = await cli.onTerminal(['login'], answers, env);
  expect(outcome).toMatchObject({ code: 0, stdout: expect.stringContaining(`Logged in to ${server.url}.`) });
  expect(outcome.stdout).not.toContain(account.key.slice(4));
  expect(await cli.run(['rules', 'list'], { env })).toMatchObject({ code: 0 });
});
