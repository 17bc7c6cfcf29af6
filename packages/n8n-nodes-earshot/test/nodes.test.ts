import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServerUnderTest, startWorld, type World } from '../../../e2e/src/world.ts';
import type { Scope } from '../../contract/src/index.ts';
import { createEarshot, type Earshot, type EarshotError } from '../../sdk/src/index.ts';
import { eventually } from '../../testkit/src/index.ts';
import { type Credentials, offered, runAction, startTrigger, testCredential } from './n8n.ts';

const within = { timeoutMs: 60_000 };
const root = join(import.meta.dirname, '..');
const run = promisify(execFile);

let world: World;
let server: ServerUnderTest;
beforeAll(async () => {
  await run(process.execPath, [join(root, 'build.mjs')]);
  world = await startWorld();
  server = await world.startServer({
    EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
    EARSHOT_TEST: 'allowInsecureWebhooks=true',
  });
}, 300_000);
afterAll(() => world?.[Symbol.asyncDispose]());

async function newUser(): Promise<{ credentials: Credentials; earshot: Earshot }> {
  const { key } = await world.newAccount();
  return {
    // With a slash at the end, which people may paste.
    credentials: { url: `${server.url}/`, apiKey: key },
    earshot: createEarshot({ url: server.url, key }),
  };
}

const post = (url: string, headers: Record<string, string>, body: string) =>
  fetch(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body });

describe('the trigger', () => {
  test('creates a webhook, starts the workflow with each match, and deletes the webhook', async () => {
    const { credentials, earshot } = await newUser();
    const { rule_id } = await earshot.createRule({
      name: 'Trigger',
      intent: 'Start a workflow',
      platforms: ['x'],
      overrides: { x: 'zeppelin' },
    });
    await using trigger = await startTrigger(credentials, { ruleIds: [rule_id], platform: 'x' });
    expect(await trigger.activate()).toBe(true);
    const { webhooks } = await earshot.listWebhooks();
    expect(webhooks).toMatchObject([
      { url: trigger.url, rule_ids: [rule_id], platform: 'x', state: 'active' },
    ]);

    await world.sandbox.posts(['a zeppelin over the lake']);
    await eventually(() => expect(trigger.started).toHaveLength(1), within);
    const { matches } = await earshot.listMatches({ rule_id });
    expect(trigger.started).toEqual([matches.map((json) => ({ json }))]);

    expect(await trigger.deactivate()).toBe(true);
    expect((await earshot.listWebhooks()).webhooks).toEqual([]);
    expect(trigger.staticData()).toEqual({});
  });

  test('keeps a fitting webhook, and replaces one that differs or whose secret is lost', async () => {
    const { credentials, earshot } = await newUser();
    await using trigger = await startTrigger(credentials);
    const idOf = async () => {
      const { webhooks } = await earshot.listWebhooks();
      expect(webhooks).toHaveLength(1);
      return webhooks[0]?.id ?? '';
    };
    await trigger.activate();
    const first = await idOf();
    expect(await trigger.activate()).toBe(false);
    expect(await idOf()).toBe(first);

    await earshot.updateWebhook({ webhook_id: first, state: 'paused' });
    expect(await trigger.activate()).toBe(true);
    const second = await idOf();
    expect(second).not.toBe(first);

    delete trigger.staticData()['secret'];
    expect(await trigger.activate()).toBe(true);
    expect(await idOf()).not.toBe(second);

    // The webhook is already deleted.
    await earshot.deleteWebhook({ webhook_id: await idOf() });
    expect(await trigger.deactivate()).toBe(true);
  });

  test('takes a rule from an expression', async () => {
    const { credentials, earshot } = await newUser();
    const overrides = { x: 'glider' };
    const { rule_id } = await earshot.createRule({ name: 'G', intent: 'G', platforms: ['x'], overrides });
    await using trigger = await startTrigger(credentials, { ruleIds: `={{ "${rule_id}" }}` });
    await trigger.activate();
    expect((await earshot.listWebhooks()).webhooks).toMatchObject([{ rule_ids: [rule_id] }]);
  });

  test('accepts a test message without a start, and refuses unsigned messages', async () => {
    const { credentials, earshot } = await newUser();
    await using trigger = await startTrigger(credentials);
    await trigger.activate();
    const [webhook] = (await earshot.listWebhooks()).webhooks;
    const tested = await earshot.testWebhook({ webhook_id: webhook?.id ?? '' });
    expect(tested).toMatchObject({ outcome: 'delivered', status: 200, response: 'ok' });

    const body = JSON.stringify({
      type: 'matches',
      webhook_id: webhook?.id,
      matches: [{ id: 'mat_forged' }],
    });
    const now = String(Math.floor(Date.now() / 1_000));
    const forged = { 'webhook-id': 'msg_1', 'webhook-timestamp': now, 'webhook-signature': 'v1,AAAA' };
    for (const headers of [forged, { ...forged, 'webhook-signature': '' }, {}] as Record<string, string>[]) {
      expect((await post(trigger.url, headers, body)).status).toBe(401);
    }
    expect(trigger.started).toEqual([]);
  });

  test.for([
    [true, [{ type: 'removed', match_id: 'mat_1' }]],
    [false, undefined],
  ] as const)(
    'with removals %s, a message with only removals starts the workflow with %j',
    async ([removals, expected]) => {
      const { credentials } = await newUser();
      await using trigger = await startTrigger(credentials, { removals });
      await trigger.activate();
      const removed = [{ type: 'removed', match_id: 'mat_1' }];
      const body = JSON.stringify({ type: 'matches', matches: [], removed });
      const at = new Date();
      const headers = {
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(String(trigger.staticData()['secret'])).sign('msg_1', at, body),
      };
      expect((await post(trigger.url, headers, body)).status).toBe(200);
      expect(trigger.started).toEqual(expected === undefined ? [] : [expected.map((json) => ({ json }))]);
    },
  );
});

describe('the action', () => {
  test('creates, lists, pauses, resumes and deletes rules', async () => {
    const { credentials, earshot } = await newUser();
    const rule = { resource: 'rule', operation: 'create', name: 'Airships', intent: 'See them' };
    const [created] = await runAction(credentials, [
      { ...rule, xQuery: 'airship', firehoseQuery: 'airship' },
    ]);
    const ruleId = String(created?.json['rule_id']);
    expect(await earshot.getRule({ rule_id: ruleId })).toMatchObject({
      name: 'Airships',
      intent: 'See them',
      state: 'active',
      platforms: { x: {}, firehose: {} },
    });
    expect(await runAction(credentials, [{ resource: 'rule', operation: 'getAll' }])).toMatchObject([
      { json: { id: ruleId }, pairedItem: { item: 0 } },
    ]);
    const chosen = { __rl: true, mode: 'list', value: ruleId, cachedResultName: 'Airships' };
    for (const [operation, state] of [
      ['pause', 'paused'],
      ['resume', 'active'],
    ]) {
      await runAction(credentials, [{ resource: 'rule', operation, ruleId: chosen }]);
      expect(await earshot.getRule({ rule_id: ruleId })).toMatchObject({ state });
    }
    await runAction(credentials, [
      { resource: 'rule', operation: 'delete', ruleId: { ...chosen, mode: 'id' } },
    ]);
    expect((await earshot.listRules()).rules).toEqual([]);
  });

  test('lists matches of several pages', async () => {
    const { credentials, earshot } = await newUser();
    const overrides = { x: 'blimp' };
    const { rule_id } = await earshot.createRule({ name: 'B', intent: 'B', platforms: ['x'], overrides });
    await world.sandbox.posts(Array.from({ length: 130 }, (_, index) => `blimp ${index}`));
    const idsOf = async (parameters: object) =>
      (await runAction(credentials, [{ resource: 'match', operation: 'getAll', ...parameters }])).map(
        ({ json }) => json['id'],
      );
    const all = await eventually(async () => {
      const ruleFilter = { __rl: true, mode: 'list', value: rule_id };
      const ids = await idsOf({ limit: 1_000, ruleFilter, platform: 'x' });
      expect(new Set(ids).size).toBe(130);
      return ids;
    }, within);
    expect(await idsOf({ limit: 120 })).toEqual(all.slice(0, 120));
    expect(await idsOf({ limit: 5, platform: 'firehose' })).toEqual([]);
  });

  test('shows the message of the server, and continues with the other items if configured', async () => {
    const { credentials, earshot } = await newUser();
    const unknown = { resource: 'rule', operation: 'pause', ruleId: 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p' };
    const { message } = await earshot.pauseRule({ rule_id: unknown.ruleId }).then(
      () => ({ message: 'it was paused' }),
      (error: EarshotError) => error,
    );
    await expect(runAction(credentials, [unknown])).rejects.toMatchObject({ description: message });
    const { rule_id } = await earshot.createRule({
      name: 'A',
      intent: 'A',
      platforms: ['x'],
      overrides: { x: 'dirigible' },
    });
    const items = [unknown, { ...unknown, ruleId: rule_id }, unknown];
    const refused = { error: message };
    expect(await runAction(credentials, items, { continueOnFail: true })).toMatchObject([
      { json: refused, pairedItem: { item: 0 } },
      { json: { id: rule_id, state: 'paused' }, pairedItem: { item: 1 } },
      { json: refused, pairedItem: { item: 2 } },
    ]);
    const empty = { resource: 'rule', operation: 'create', name: 'A', intent: 'A' };
    await expect(runAction(credentials, [empty])).rejects.toThrow(
      'The rule has no query. Add a query for at least one platform.',
    );
  });
});

test.for([
  ['earshot', 'ruleId'],
  ['earshot', 'ruleFilter'],
  ['earshotTrigger', 'ruleIds'],
])('%s offers the rules of the account for %s, by name', async ([node = '', parameter = '']) => {
  const { credentials, earshot } = await newUser();
  const create = async (name: string) => {
    const { rule_id } = await earshot.createRule({
      name,
      intent: 'A',
      platforms: ['x'],
      overrides: { x: 'cat' },
    });
    return { name, value: rule_id, description: rule_id };
  };
  const comets = await create('Comets');
  const asteroids = await create('Asteroids');
  expect(await offered(credentials, node, parameter)).toEqual([asteroids, comets]);
  if (node === 'earshot') expect(await offered(credentials, node, parameter, 'comet')).toEqual([comets]);
});

/** A key with the scopes that the README names for a node. */
async function documentedKey({ credentials, earshot }: Awaited<ReturnType<typeof newUser>>, node: string) {
  const page = await readFile(join(root, 'README.md'), 'utf8');
  const [, cell = ''] = new RegExp(`^\\| ${node} +\\| (\`.*\`) +\\|$`, 'm').exec(page) ?? [];
  const scopes = cell.replaceAll('`', '').split(', ') as Scope[];
  const { key } = await earshot.createKey({ name: node, scopes });
  return { ...credentials, apiKey: String(key) };
}

test('a key with the documented scopes suffices for each node', async () => {
  const user = await newUser();
  const forTrigger = await documentedKey(user, 'Earshot Trigger');
  expect(await offered(forTrigger, 'earshotTrigger', 'ruleIds')).toEqual([]);
  await using trigger = await startTrigger(forTrigger);
  expect(await trigger.activate()).toBe(true);
  expect(await trigger.deactivate()).toBe(true);

  const forAction = await documentedKey(user, 'Earshot');
  expect(await offered(forAction, 'earshot', 'ruleId')).toEqual([]);
  const rule = { resource: 'rule', operation: 'create', name: 'A', intent: 'A', xQuery: 'balloon' };
  const [created] = await runAction(forAction, [rule]);
  const ruleId = String(created?.json['rule_id']);
  await runAction(forAction, [{ resource: 'match', operation: 'getAll', ruleFilter: ruleId }]);
  await runAction(forAction, [{ resource: 'rule', operation: 'delete', ruleId }]);
});

test('any valid key passes the test of the credential', async () => {
  const { credentials } = await newUser();
  expect(await testCredential(credentials)).toMatchObject({ platforms: { x: {} } });
  await expect(testCredential({ ...credentials, apiKey: 'esk_unknown' })).rejects.toMatchObject({
    httpCode: '401',
  });
});

test("the package passes n8n's linter for community nodes and the type check", async () => {
  const lint = run(join(root, 'node_modules/.bin/eslint'), ['.', '--max-warnings', '0'], { cwd: root });
  const types = run(join(root, '../../node_modules/.bin/tsc'), ['-p', join(root, 'test')]);
  const problems = await Promise.all([lint, types].map((one) => one.catch(({ stdout }) => ({ stdout }))));
  expect(problems.map(({ stdout }) => stdout)).toEqual(['', '']);
});
