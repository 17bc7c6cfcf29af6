import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { compileCache } from '@earshot/engines';
import { eventually } from '@earshot/testkit';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import type { Api } from './src/api.ts';
import { startReceiver } from './src/webhook-receiver.ts';
import { type ServerUnderTest, startWorld, type World } from './src/world.ts';

const main = join(import.meta.dirname, '../apps/cli/src/main.ts');
const within = { timeoutMs: 60_000 };

/** Every word of docs/operations/rotation.md that is a command, on this world's database. */
function admin(world: World, words: string, env: Record<string, string> = {}) {
  const cliEnv = { ...compileCache(), PATH: process.env['PATH'], EARSHOT_DATABASE_URL: world.databaseUrl };
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    const args = [main, 'admin', ...words.split(' '), '--json'];
    execFile(process.execPath, args, { env: { ...cliEnv, ...env } }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const unreadableOn = async ({ metricsUrl }: ServerUnderTest) =>
  /^earshot_webhook_secrets_unreadable (\d+)$/m.exec(await (await fetch(metricsUrl)).text())?.[1];

test('webhooks go on during the whole rotation of EARSHOT_SECRETS_KEY, on two nodes', async () => {
  await using world = await startWorld();
  await using receiver = await startReceiver();
  const [old, fresh] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  const start = (keys: string) =>
    world.startServer({ EARSHOT_SECRETS_KEY: keys, EARSHOT_ALLOW_INSECURE_WEBHOOKS: 'true' });
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
  /** A post reaches every webhook that there is, signed with its secret, and none is turned away. */
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
  /** One node after the other; after each, both make a webhook, and all get the next post. */
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
  const keys = { EARSHOT_SECRETS_KEY: `${fresh},${old}` };
  const first = JSON.parse((await admin(world, 'reencrypt', keys)).stdout);
  expect(first.reencrypted).toBeGreaterThan(0);
  expect(first.reencrypted + first.current).toBe(secrets.size);
  expect(first.unreadable).toEqual([]);
  await deliverOne();
  const again = JSON.parse((await admin(world, 'reencrypt', keys)).stdout);
  expect(again).toEqual({ reencrypted: 0, current: secrets.size, unreadable: [] });
  await roll('new', fresh);
  for (const node of nodes) await eventually(async () => expect(await unreadableOn(node)).toBe('0'), within);
  expect(await world.serverLog()).not.toContain('cannot be read with EARSHOT_SECRETS_KEY');
  expect(await world.serverLog()).not.toContain('a webhook secret cannot be opened');

  // Control: a node with the old key alone says that it cannot read them, and so does the command.
  const late = await start(old);
  await eventually(async () => expect(await unreadableOn(late)).toBe(String(secrets.size)), within);
  expect(await world.serverLog()).toContain('cannot be read with EARSHOT_SECRETS_KEY');
  expect(await admin(world, 'reencrypt', { EARSHOT_SECRETS_KEY: old })).toMatchObject({ code: 1 });
});

test('a follower goes on over the rotation of the secret of cursors, whichever node it asks', async () => {
  await using world = await startWorld();
  const nodes = [await world.startServer(), await world.startServer()];
  const account = await world.newAccount();
  const [one, other] = nodes.map((node) => node.api(account));
  if (!one || !other) throw new Error('there are two nodes');
  await one.createRule({ x: 'follow' });
  const follow = { order: 'oldest' };
  let cursor = (await one.matches(follow)).next_cursor;
  const old = cursor;
  const heard: string[] = [];
  let turns = 0;
  /** Each page from the other node than the one before. */
  const read = async () => {
    const page = await (turns++ % 2 ? other : one).matches({ ...follow, cursor });
    cursor = page.next_cursor;
    heard.push(...page.matches.map(({ payload }) => String(payload.text)));
  };
  const posted: string[] = [];
  const followAnother = async () => {
    posted.push(`follow ${posted.length}`);
    await world.sandbox.posts(posted.slice(-1));
    await eventually(async () => {
      await read();
      expect(heard).toEqual(posted);
    }, within);
  };
  await followAnother();
  expect(await admin(world, 'rotate-cursor-secret')).toMatchObject({ code: 0 });
  expect(await admin(world, 'rotate-cursor-secret')).toMatchObject({ code: 1 });
  expect(await admin(world, 'rotate-cursor-secret --forget')).toMatchObject({ code: 1 });
  // Over the moment in which the nodes begin to sign with the new secret, until the old one can be forgotten.
  await eventually(
    async () => {
      await followAnother();
      expect(await admin(world, 'rotate-cursor-secret --forget')).toMatchObject({ code: 0 });
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
  expect(await admin(world, 'rotate-cursor-secret')).toMatchObject({ code: 0 });
  await followAnother();
});
