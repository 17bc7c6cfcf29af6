import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { startServerProgram } from '@earshot/engines';
import { migrate } from '@earshot/server/admin';
import { eventually } from '@earshot/testkit';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { type Api, createApi } from './src/api.ts';
import { newAccount, run, startMachine, startTrial, untilListening } from './src/machine.ts';
import { readBlocks, readCommands } from './src/page-blocks.ts';
import { startReceiver } from './src/webhook-receiver.ts';
import { type ServerUnderTest, startWorld, tapToken, type World, xToken } from './src/world.ts';

const within = { timeoutMs: 60_000 };
/** A registrar compares its rules with the platform's every 30 seconds. */
const untilCompared = { timeoutMs: 180_000, intervalMs: 1_000 };
const path = 'docs/operations/rotation.md';
const page = await readCommands(path, [
  'generateKey',
  'reencrypt',
  'rotateCursorSecret',
  'forgetCursorSecret',
  'rulesLeft',
  'changePasswords',
]);

/** Runs a command of the page on this world's database; returns its answer as JSON. */
async function admin(world: World, command: string, env: Record<string, string> = {}) {
  return await run(`${command} --json`, { EARSHOT_DATABASE_URL: world.databaseUrl, ...env }).then(
    (stdout) => ({ code: 0, stdout }),
    (error: { code: number; stdout: string }) => ({ code: error.code, stdout: error.stdout }),
  );
}

const unreadableOn = async ({ metricsUrl }: ServerUnderTest) =>
  /^earshot_webhook_secrets_unreadable (\d+)$/m.exec(await (await fetch(metricsUrl)).text())?.[1];

test('webhooks continue during the whole rotation of EARSHOT_SECRETS_KEY, on two nodes', async () => {
  await using world = await startWorld();
  await using receiver = await startReceiver();
  const old = randomBytes(32).toString('base64');
  const fresh = (await run(page.generateKey, {})).trim();
  const start = (keys: string) =>
    world.startServer({ EARSHOT_SECRETS_KEY: keys, EARSHOT_TEST: 'allowInsecureWebhooks=true' });
  const nodes = [await start(old), await start(old)];
  const account = await world.newAccount();
  const apiOf = (node: number) => {
    const server = nodes[node];
    if (!server) throw new Error('there is no such node');
    return server.api(account);
  };
  await apiOf(0).createRule({ x: 'rotate' });
  const secrets = new Map<string, string>();
  const newWebhook = async (api: Api, name: string) => {
    const answer = await api.call('POST', '/api.CreateWebhook', { name, url: `${receiver.url}?${name}` });
    expect(answer.status).toBe(200);
    const { webhook_id, secret } = answer.json as { webhook_id: string; secret: string };
    secrets.set(webhook_id, secret);
  };
  let posted = 0;
  /** A post reaches every existing webhook, signed with its secret, and every endpoint accepts it. */
  const deliverOne = async () => {
    const text = `rotate ${++posted}`;
    const webhooks = [...secrets.keys()];
    await world.sandbox.posts([text]);
    await eventually(() => {
      const got = receiver.messages.filter(({ body }) => body.includes(`"${text}"`));
      const by = got.map((message) => {
        const id = (JSON.parse(message.body) as { webhook_id: string }).webhook_id;
        new Webhook(secrets.get(id) ?? '').verify(message.body, message.headers);
        return id;
      });
      expect(by.toSorted()).toEqual(webhooks.toSorted());
    }, within);
  };
  /** One node after the other. After each, both nodes make a webhook, and all webhooks get the next post. */
  const roll = async (step: string, keys: string) => {
    for (const node of [0, 1]) {
      await nodes[node]?.stop();
      nodes[node] = await start(keys);
      for (const one of [0, 1]) await newWebhook(apiOf(one), `${step}-${node}-${one}`);
      await deliverOne();
    }
  };
  await newWebhook(apiOf(1), 'before');
  await deliverOne();
  await roll('read', `${old},${fresh}`);
  await roll('write', `${fresh},${old}`);
  const keys = { NEW_KEY: fresh, OLD_KEY: old };
  const first = JSON.parse((await admin(world, page.reencrypt, keys)).stdout);
  expect(first.reencrypted).toBeGreaterThan(0);
  expect(first.reencrypted + first.current).toBe(secrets.size);
  expect(first.unreadable).toEqual([]);
  await deliverOne();
  const again = JSON.parse((await admin(world, page.reencrypt, keys)).stdout);
  expect(again).toEqual({ reencrypted: 0, current: secrets.size, unreadable: [] });
  await roll('new', fresh);
  for (const node of nodes) await eventually(async () => expect(await unreadableOn(node)).toBe('0'), within);
  expect(await world.serverLog()).not.toContain('cannot be read with EARSHOT_SECRETS_KEY');
  expect(await world.serverLog()).not.toContain('a webhook secret cannot be decrypted');

  // Control: a node with only the old key logs that it cannot read them, and the command reports the same.
  const late = await start(old);
  await eventually(async () => expect(await unreadableOn(late)).toBe(String(secrets.size)), within);
  expect(await world.serverLog()).toContain('cannot be read with EARSHOT_SECRETS_KEY');
  expect(await admin(world, 'earshot admin reencrypt', { EARSHOT_SECRETS_KEY: old })).toMatchObject({
    code: 1,
  });
});

test('a follower continues over the rotation of the cursor secret, on either node', async () => {
  await using world = await startWorld();
  const nodes = [await world.startServer(), await world.startServer()];
  const account = await world.newAccount();
  const [one, other] = nodes.map((node) => node.api(account));
  if (!one || !other) throw new Error('there are two nodes');
  await one.createRule({ x: 'follow' });
  const follow = { order: 'oldest' };
  let cursor = (await one.matches(follow)).next_cursor;
  const old = cursor;
  const received: string[] = [];
  let turns = 0;
  /** Each page from the other node than the previous one. */
  const read = async () => {
    const page = await (turns++ % 2 ? other : one).matches({ ...follow, cursor });
    cursor = page.next_cursor;
    received.push(...page.matches.map(({ payload }) => String(payload.text)));
  };
  const posted: string[] = [];
  const followAnother = async () => {
    posted.push(`follow ${posted.length}`);
    await world.sandbox.posts(posted.slice(-1));
    await eventually(async () => {
      await read();
      expect(received).toEqual(posted);
    }, within);
  };
  await followAnother();
  expect(await admin(world, page.rotateCursorSecret)).toMatchObject({ code: 0 });
  expect(await admin(world, page.rotateCursorSecret)).toMatchObject({ code: 1 });
  expect(await admin(world, page.forgetCursorSecret)).toMatchObject({ code: 1 });
  // While the nodes begin to sign with the new secret, until the old one can be deleted.
  await eventually(
    async () => {
      await followAnother();
      expect(await admin(world, page.forgetCursorSecret)).toMatchObject({ code: 0 });
    },
    { timeoutMs: 120_000 },
  );
  await followAnother();
  for (const api of [one, other]) {
    const refused = async () => {
      const answer = await api.call('POST', '/matches', { ...follow, cursor: old });
      expect(answer).toMatchObject({ status: 400, json: { code: 'invalid_argument' } });
    };
    await eventually(refused, within);
  }
  await followAnother();
  expect(await admin(world, page.rotateCursorSecret)).toMatchObject({ code: 0 });
  await followAnother();
});

/** The settings that the page shows, one block after the other, with these tokens. */
async function settingsOfThePage(tokens: Record<string, string>, change: (text: string) => string) {
  const blocks = (await readBlocks(path)).filter(({ language }) => language === 'ini');
  return blocks.map(({ text }) =>
    Object.fromEntries(
      change(text)
        .replaceAll(/<(.+?)>/g, (_, what: string) => tokens[what] ?? what)
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    ),
  );
}

/** Sends posts or pages about walnuts, and checks that all of them are listed. */
function followWalnuts({ sandbox }: World, platform: string) {
  const published: string[] = [];
  return {
    publish: async () => {
      const text = `walnut number ${published.length}`;
      published.push(text);
      if (platform === 'x') await sandbox.posts([text]);
      else await sandbox.pages([{ url: `https://walnut.example/${published.length}`, title: text, text }]);
    },
    untilAllListed: (api: Api) =>
      eventually(async () => {
        const listed = (await api.allMatches()).map(({ payload }) => payload.title ?? payload.text);
        expect(published.filter((text) => !listed.includes(text))).toEqual([]);
      }, within),
    /** Firehose keeps pages that are sent without a connection. */
    untilConnected: async (token: string) => {
      if (platform === 'x') await untilListening(sandbox, token);
    },
  };
}

/** Frequent checks: an upstream rule is between its two sources for only a tenth of a second. */
async function publishUntil(signal: AbortSignal, publish: () => Promise<void>): Promise<void> {
  while (!signal.aborted) await Promise.all([publish(), setTimeout(25)]);
}

test.each([
  { platform: 'x', setting: 'EARSHOT_X_TOKENS', old: xToken },
  { platform: 'firehose', setting: 'EARSHOT_FIREHOSE_TOKENS', old: tapToken },
])('the rules of $platform move to a new token, and nothing is missed while they do', async (one) => {
  const fresh = `${one.old}_next`;
  const xApps = [{ token: xToken }, { token: `${xToken}_next` }];
  const taps = [{ token: tapToken }, { token: `${tapToken}_next` }];
  await using world = await startWorld({ sandbox: { xApps, taps, rateLimits: false } });
  const ofPlatform = (text: string) =>
    text.replace('x:main', `${one.platform}:main`).replace('EARSHOT_X_TOKENS', one.setting);
  const settings = await settingsOfThePage({ 'old token': one.old, 'new token': fresh }, ofPlatform);
  const [both = {}, alone = {}, ...more] = settings;
  expect(more).toEqual([]);
  const start = (env: Record<string, string>) =>
    world.startServer({ EARSHOT_TEST: 'upstreamPace=100,xRuleDelayMs=3000', ...env });
  const nodes = [await start({}), await start({})];
  const account = await world.newAccount();
  const apiOf = (node: number) => {
    const server = nodes[node];
    if (!server) throw new Error('there is no such node');
    return server.api(account);
  };
  const { publish, untilAllListed, untilConnected } = followWalnuts(world, one.platform);
  const restart = async (node: number, env: Record<string, string>) => {
    await nodes[node]?.stop();
    nodes[node] = await start(env);
  };
  await apiOf(0).createRule({ [one.platform]: 'walnut' });
  await untilConnected(one.old);
  await publish();
  await untilAllListed(apiOf(0));

  await nodes[0]?.stop();
  await untilConnected(one.old);
  nodes[0] = await start(both);
  const left = { EARSHOT_DATABASE_URL: world.databaseUrl };
  const moving = new AbortController();
  const publishing = publishUntil(moving.signal, publish);
  await eventually(
    async () => expect(await run(ofPlatform(page.rulesLeft), left)).toBe('0\n'),
    untilCompared,
  ).finally(() => moving.abort());
  await publishing;
  await publish();
  await untilAllListed(apiOf(0));
  await restart(1, both);
  await restart(0, alone);
  await restart(1, alone);
  await untilConnected(fresh);
  await publish();
  await untilAllListed(apiOf(0));
});

test('each login changes its password, and nodes with the new passwords take over from a node with the old ones', async () => {
  const { stack, dir, upstreams, sandbox } = await startTrial();
  await using _stack = stack;
  const machine = await startMachine(stack, dir);
  await migrate(machine.urls.owner);
  const { key } = await newAccount(machine.urls.owner);
  const logFile = join(dir, 'server.log');
  const start = async (env: Record<string, string>) =>
    stack.use(await startServerProgram({ env: { ...env, ...upstreams }, logFile }));
  const before = await start(machine.env);
  const old = createApi(before.ready.address, key);
  await old.createRule({ x: 'walnut' });
  const passwords = {
    NEW_RUNTIME_PASSWORD: 'new-runtime',
    NEW_ACCOUNT_PASSWORD: 'new-account',
    NEW_OWNER_PASSWORD: 'new-owner',
  };
  await run(page.changePasswords, { ...machine.env, ...passwords });
  await expect(run('psql -d "$EARSHOT_DATABASE_URL" -c ""', machine.env)).rejects.toThrow(
    /authentication failed/,
  );
  expect((await old.listRules()).rules).toHaveLength(1);

  const changed = (url: string, password: string) => Object.assign(new URL(url), { password }).href;
  const after = await start({
    ...machine.env,
    EARSHOT_DATABASE_URL: changed(machine.urls.runtime, 'new-runtime'),
    EARSHOT_ACCOUNT_DATABASE_URL: changed(machine.urls.account, 'new-account'),
    EARSHOT_MIGRATION_DATABASE_URL: changed(machine.urls.owner, 'new-owner'),
  });
  await before.stop();
  await untilListening(sandbox);
  await sandbox.posts(['a walnut']);
  const api = createApi(after.ready.address, key);
  await eventually(async () => expect(await api.allMatches()).toHaveLength(1), within);
});
