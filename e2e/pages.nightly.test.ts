import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { operations } from '@earshot/contract';
import { freePorts } from '@earshot/engines';
import { eventually } from '@earshot/testkit';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type CommandGroup, isGroup } from '../apps/cli/src/command.ts';
import { earshotCommands } from '../apps/cli/src/commands.ts';
import { type RunningCommand, repository, startCommand } from './src/demo-process.ts';
import { run } from './src/machine.ts';
import { readBlocks } from './src/page-blocks.ts';
import { commandExamples, type PageWithCommands, pagesWithCommands } from './src/pages-with-commands.ts';
import { type ServerUnderTest, startWorld, type World, xToken } from './src/world.ts';

/** A post that matches the rules of all pages. */
const everything =
  'Aurora visible tonight, outage of a rocket launch, rust heat pump recall, the engine broke, marzipan';
const endless = /^(curl -sN|node receiver\.mjs)/;

let world: World;
let server: ServerUnderTest;
let dir: string;
const secretsKey = randomBytes(32).toString('base64');
const feed = new AbortController();
const started: RunningCommand[] = [];

beforeAll(async () => {
  world = await startWorld({ sandbox: { rateLimits: false } });
  server = await world.startServer({
    EARSHOT_SECRETS_KEY: secretsKey,
    // A judge that never answers.
    EARSHOT_JUDGE_URL: 'http://127.0.0.1:9/v1',
    EARSHOT_JUDGE_MODEL: 'none',
    EARSHOT_TEST: 'allowInsecureWebhooks=true',
    EARSHOT_SMTP_URL: 'smtp://127.0.0.1:9',
    EARSHOT_MAIL_FROM: 'earshot@example.net',
    EARSHOT_MAIL_TO: '@example.com',
  });
  dir = await mkdtemp(join(tmpdir(), 'earshot-pages-'));
  await symlink(join(repository, 'deploy'), join(dir, 'deploy'));
  void (async () => {
    for (; !feed.signal.aborted; await sleep(500)) await world.sandbox.posts([everything]);
  })().catch(() => undefined);
});
afterEach(async () => {
  for (const { process: child, exited } of started.splice(0)) {
    child.kill('SIGTERM');
    await exited;
  }
});
afterAll(async () => {
  feed.abort();
  await world?.[Symbol.asyncDispose]();
  await rm(dir, { recursive: true, force: true });
});

const startsWithOneOf = (line: string, starts: object = {}) =>
  Object.keys(starts)
    .toSorted((one, other) => other.length - one.length)
    .find((start) => line.startsWith(start));

/** A user at a shell, who copies ids and tokens from the answers. */
async function startReader({ notRun, codes = {}, shows = [] }: PageWithCommands, cwd: string) {
  const account = await world.newAccount();
  const api = server.api(account);
  const more = { keys: 100, webhooks: 100, digests: 100 };
  await world.admin.setLimits(account.accountId, more);
  const { rule_id: ruleId } = await api.createRule({ x: 'rocket' });
  // Some pages read matches at once.
  await eventually(async () => expect((await api.matches()).matches).not.toEqual([]), { timeoutMs: 60_000 });
  const [port = 0] = await freePorts(1);
  const env: Record<string, string> = {
    EARSHOT_URL: server.url,
    EARSHOT_API_KEY: account.key,
    EARSHOT_DATABASE_URL: world.databaseUrl,
    EARSHOT_MIGRATION_DATABASE_URL: world.databaseUrl,
    EARSHOT_NATS_URL: world.nats.url,
    EARSHOT_X_TOKENS: `main=${xToken}`,
    EARSHOT_X_BASE_URL: world.sandbox.url,
    EARSHOT_SECRETS_KEY: secretsKey,
    PYTHONPATH: join(repository, 'sdks/python/src'),
    // Another address of this machine than that of the metrics.
    PUBLIC_ADDRESS: '127.0.0.2',
  };
  const [match] = (await api.matches()).matches;
  const ids = new Map([
    ['acc', account.accountId],
    ['rule', ruleId],
    ['mat', match?.id ?? ''],
  ]);
  let printed = '';
  let answer: unknown;
  const toRun = (line: string) =>
    line
      .replace('./dev earshot', 'earshot')
      // Debian's, with httpx.
      .replace(/^python3 /, '/usr/bin/python3 ')
      .replace(/ \| jq .*$/, '')
      .replaceAll('3000', String(port))
      .replace(':9464/', `:${new URL(server.metricsUrl).port}/`)
      .replaceAll(
        /\b(rule|acc|whk|dig|feed|key|mut|mat)_0(?:1kb2|0)\w+/g,
        (id, kind: string) => ids.get(kind) ?? id,
      );
  return {
    save: (name: string, text: string) => writeFile(join(dir, name), text.replaceAll('3000', String(port))),
    isRun: (block: string) => startsWithOneOf(block, notRun) === undefined,
    /** New resources for each id in an example, because the previous example may have deleted them. */
    async makeObjects(example: string): Promise<void> {
      const make = async (id: string, request: object) => {
        const made = await api.call('POST', `/api.${id}`, request);
        expect([id, made.status]).toEqual([id, 200]);
        return Object(made.json);
      };
      const name = `example ${ids.size} ${performance.now()}`;
      const isFor = (kind: string) => example.includes(`${kind}_01kb2`);
      if (isFor('rule')) ids.set('rule', (await api.createRule({ x: 'rocket' })).rule_id);
      if (isFor('key')) ids.set('key', (await make('CreateKey', {})).key_id);
      if (isFor('mut')) ids.set('mut', (await make('MuteMatches', { author: name })).mute_id);
      if (isFor('feed')) ids.set('feed', (await make('CreateFeed', { name })).feed_id);
      if (isFor('acc')) ids.set('acc', (await world.newAccount()).accountId);
      const url = 'http://127.0.0.1:9/';
      if (isFor('whk') || isFor('dig'))
        ids.set('whk', (await make('CreateWebhook', { name, url })).webhook_id);
      const digest = { name, schedule: { window_seconds: 300 }, recipients: { webhook_id: ids.get('whk') } };
      if (isFor('dig')) ids.set('dig', (await make('CreateDigest', digest)).id);
    },
    async type(line: string): Promise<void> {
      if (line.startsWith('export EARSHOT_URL=')) return;
      // Only a paused rule can be resumed.
      if (line.startsWith('earshot rules resume')) await api.pauseRule(ids.get('rule') ?? '');
      if (line.startsWith('export ')) {
        for (const [, name = '', field = ''] of line.matchAll(/(\w+)=<(\w+) of the answer>/g))
          env[name] = String(Object(answer)[field]);
        return;
      }
      if (endless.test(line)) {
        const command = startCommand('/bin/sh', ['-c', `cd '${dir}' && exec ${toRun(line)}`], dir, env);
        started.push(command);
        await command.line(/^(event: open|listening)/);
        return;
      }
      const code = codes[startsWithOneOf(line, codes) ?? ''] ?? 0;
      const outcome = await run(toRun(line), { ...env, ACCOUNT_ID: ids.get('acc') ?? '' }, { cwd }).then(
        (stdout) => ({ code: 0, stdout, stderr: '' }),
        (error: { code: number; stdout: string; stderr: string }) => error,
      );
      if (outcome.code !== code) throw new Error(`${line}: ${outcome.code}, not ${code}: ${outcome.stderr}`);
      const output = `${outcome.stdout}\n${outcome.stderr}\n`;
      printed += output;
      for (const [id, kind = ''] of output.matchAll(/\b(rule|acc|whk|dig|key|mut)_\w{26}\b/g))
        ids.set(kind, id);
      const [, path] = /^curl -s "\$EARSHOT_URL(\/[^"?]+)"/.exec(line) ?? [];
      const operation = Object.values(operations).find((one) => one.path === path);
      if (operation === undefined) return;
      answer = JSON.parse(outcome.stdout);
      expect([line, operation.answer.safeParse(answer).error]).toEqual([line, undefined]);
    },
    expectShown: () =>
      eventually(
        () => {
          const all = printed + started.map((one) => one.stdout()).join('');
          for (const pattern of shows) expect(all).toMatch(pattern);
        },
        { timeoutMs: 60_000 },
      ),
  };
}

const followed = Object.entries(pagesWithCommands).filter(([, { test: other }]) => other === undefined);

test.each(followed)('the commands of %s work as described', async (path, page) => {
  const blocks = await readBlocks(path);
  const hasFiles = blocks.some(({ language, name }) => language === 'yaml' || name.endsWith('.mjs'));
  const { expectShown, ...reader } = await startReader(page, hasFiles ? dir : repository);
  for (const { language, name, text } of blocks) {
    if (name !== '') await reader.save(name, text);
    if (language === 'yaml') await reader.save('rules.yaml', text);
    if (language !== 'sh' || !reader.isRun(text)) continue;
    for (const line of text.replaceAll('\\\n', '').split('\n')) await reader.type(line);
  }
  await expectShown();
});

const examplesOf = (group: CommandGroup): string[] =>
  group.commands.flatMap((entry) => (isGroup(entry) ? examplesOf(entry) : entry.examples));

test('the examples of the command line run', async () => {
  const reader = await startReader(commandExamples, dir);
  await reader.save('rules.yaml', 'set: examples\nrules: {}\n');
  await reader.save('team.yaml', 'set: team\nrules: {}\n');
  const failed: unknown[] = [];
  for (const example of examplesOf(earshotCommands).filter((one) => reader.isRun(one))) {
    await reader.makeObjects(example);
    await reader.type(example).catch((error: Error) => failed.push(error.message));
  }
  expect(failed).toEqual([]);
});

test('every link of llms.txt exists', async () => {
  const links = Array.from(
    (await (await fetch(`${server.url}/llms.txt`)).text()).matchAll(/\]\((\/[^)]*)\)/g),
    ([, link = '']) => link,
  );
  expect(links).toEqual(expect.arrayContaining(['/docs', '/openapi.json', '/rules.schema.json']));
  for (const link of links) {
    const { status } = await fetch(`${server.url}${link}`);
    // MCP does not support a plain GET.
    if (link === '/mcp') expect(status).not.toBe(404);
    else expect([link, status]).toEqual([link, 200]);
  }
});
