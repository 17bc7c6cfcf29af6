import { eventually, startTestNats, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openAdmin } from '../src/admin.ts';
import { startNode } from '../src/compose/node.ts';
import { readConfig } from '../src/config/config.ts';
import { createMigratedTemplate, silentLog } from './support.ts';

/**
 * What a third platform needs of the product: its description in the contract, and its descriptor in the table of
 * platforms. The two mocks are these two lines; everything else is the unchanged product.
 */
const feed = await vi.hoisted(async () => (await import('./word-feed.ts')).createWordFeed());
vi.mock(import('../../../packages/contract/src/platform-descriptions.ts'), async (original) => {
  const { platformDescriptions } = await original();
  return { platformDescriptions: Object.assign({}, platformDescriptions, { feed: feed.description }) };
});
vi.mock(import('../src/upstream/platforms.ts'), async (original) => {
  const { platforms } = await original();
  return { platforms: Object.assign({}, platforms, { feed: feed.platform }) };
});

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

/** The fields that the test reads, of any operation's answer. */
interface Answer {
  readonly status: number;
  readonly json: {
    readonly rule_id: string;
    readonly platforms: { readonly feed: { readonly platform_rule_id: string } };
    readonly matches: readonly unknown[];
  };
}

const soon = { timeoutMs: 30_000 };

async function startService() {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await template.clone());
  const servers = stack.use(await startTestNats());
  const config = readConfig({
    EARSHOT_DATABASE_URL: database.url,
    EARSHOT_NATS_URL: servers.url,
    EARSHOT_PORT: '0',
    EARSHOT_METRICS_PORT: '0',
  });
  const admin = stack.use(await openAdmin(database.url));
  const { accountId } = await admin.createAccount({ name: 'one' });
  const created = await admin.createKey({ accountId });
  const node = stack.use(await startNode({ config, log: silentLog, checkpoint: () => undefined }));
  const running = stack.move();
  return {
    async call(path: string, body: object): Promise<Answer> {
      const answer = await fetch(new URL(path, node.address ?? ''), {
        method: 'POST',
        headers: { authorization: `Bearer ${created?.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: answer.status, json: (await answer.json()) as Answer['json'] };
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

test('a platform that is added with its id and its descriptor is served like the others', async () => {
  await using service = await startService();
  const rule = { name: 'pumps', intent: 'follow heat pumps', platforms: ['feed'] };

  // Its language checks queries, with messages in the form of the interface.
  expect(
    await service.call('/api.CreateRule', { ...rule, overrides: { feed: 'heat "pumps"' } }),
  ).toMatchObject({
    status: 400,
    json: {
      code: 'invalid_argument',
      details: { violations: [{ field: 'overrides.feed', code: 'not_a_word', span: { start: 5, end: 12 } }] },
    },
  });
  expect(await service.call('/platforms/syntax', { platforms: ['feed'] })).toMatchObject({
    status: 200,
    json: { platforms: { feed: { rule_type: 'regular', markdown: 'Plain words.' } } },
  });

  // The rule is registered at the feed, in its canonical form and with our tag.
  const created = await service.call('/api.CreateRule', { ...rule, overrides: { feed: 'Pumps heat' } });
  expect(created).toMatchObject({
    status: 200,
    json: {
      platforms: {
        feed: { platform_rule_id: 'word-shown', translated_value: 'heat pumps', status: 'active' },
      },
    },
  });
  expect(feed.rules()).toEqual([
    { id: 'word-1', value: 'heat pumps', tag: expect.stringMatching(/^earshot:/) },
  ]);

  // A matching item becomes a match, with the reason; an item without a rule does not.
  feed.push('Gas boilers stay');
  feed.push('Heat pumps overtake gas');
  await eventually(async () => {
    const listed = await service.call('/matches', { rule_id: created.json.rule_id, platform: 'feed' });
    expect(listed).toMatchObject({
      status: 200,
      json: {
        matches: [
          {
            rule_id: created.json.rule_id,
            platform: 'feed',
            payload: { text: 'Heat pumps overtake gas' },
            why: { verdict: 'match', evidence: [{ text: 'Heat' }, { text: 'pumps' }] },
          },
        ],
        coverage: { gaps: [] },
      },
    });
    expect(listed.json.matches).toHaveLength(1);
  }, soon);

  // Deleting the rule removes it from the feed.
  expect(await service.call('/api.DeleteRule', { rule_id: created.json.rule_id })).toMatchObject({
    status: 200,
  });
  await eventually(async () => expect(feed.rules()).toEqual([]), soon);
});
