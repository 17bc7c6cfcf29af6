import { operations } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import type { Database } from '../src/engines/database.ts';
import { raiseNotices, resolveNotices } from '../src/notices/notice-log.sql.ts';
import { type Received, startEndpoint } from './web-endpoint.ts';
import { type TestWebhook, withWebhookWorld } from './webhook-world.ts';

const within = { timeoutMs: 60_000 };
const both = ['matches', 'notices'] as const;

const expired = (ruleId: string) =>
  ({
    type: 'rule.expired',
    subject: { kind: 'rule', id: ruleId, name: 'n' },
    data: { expires_at: null },
  }) as const;
const raise = (database: Database, ruleId: string) => raiseNotices(database, ['acc_1'], expired(ruleId));

/** Verified by the published library: `matches`, or the subject of a notice and whether it is over. */
function sentTo({ id, secret }: TestWebhook, { body, headers }: Received): string {
  const message = Object(new Webhook(secret).verify(body, headers));
  expect(message.webhook_id).toBe(id);
  if (message.type !== 'notice') return message.type;
  const { notices } = operations.ListNotices.answer.parse({ notices: [message.notice], next_cursor: null });
  return notices
    .map(({ subject, resolved_at }) => `${subject.id}${resolved_at === null ? '' : ' over'}`)
    .join();
}

test('who asks for notices gets each in a message of its own, in order, and again when it is resolved', () =>
  withWebhookWorld(async (world, database) => {
    await raise(database, 'before');
    await using endpoint = await startEndpoint();
    await using other = await startEndpoint();
    const webhook = await world.createWebhook(endpoint.url, { events: both });
    const matchesOnly = await world.createWebhook(other.url);
    await raise(database, 'first');
    await raise(database, 'second');
    await world.storeMatches(['a match']);
    await using _sender = world.startSender();
    const sent = () => endpoint.received.map((one) => sentTo(webhook, one));
    await eventually(() => expect(sent()).toEqual(['first', 'second', 'matches']), within);
    await resolveNotices(database, { types: ['rule.expired'], subject: { kind: 'rule', id: 'first' } });
    await eventually(() => expect(sent().at(-1)).toBe('first over'), within);
    expect(new Set(endpoint.received.map(({ headers }) => headers['webhook-id'])).size).toBe(4);
    await eventually(() => expect(other.received).toHaveLength(1), within);
    expect(other.received.map((one) => sentTo(matchesOnly, one))).toEqual(['matches']);
    await eventually(async () => {
      const [latest] = await world.deliveries(webhook.id);
      expect(latest).toMatchObject({ outcome: 'delivered', match_count: 0, first_match_id: null });
      expect(latest?.notice_id).toMatch(/^ntc_/);
    }, within);
  }));

test('a notice that fails comes again under the same id, with the same bytes, after the wait of the schedule', () =>
  withWebhookWorld(async (world, database) => {
    let status = 500;
    await using endpoint = await startEndpoint(() => status);
    const webhook = await world.createWebhook(endpoint.url, { events: ['notices'] });
    await raise(database, 'one');
    await using _sender = world.startSender();
    await eventually(() => expect(endpoint.received).toHaveLength(1), within);
    await eventually(async () => {
      const [listed] = await world.webhooks.list('acc_1');
      expect(listed?.failing_since).not.toBeNull();
    }, within);
    status = 200;
    await world.clock.pass(60_000);
    await eventually(async () => {
      const [listed] = await world.webhooks.list('acc_1');
      expect(listed?.failing_since).toBeNull();
    }, within);
    // That the webhook failed, and works again, is told to it as well.
    const [first, ...more] = endpoint.received.filter(({ body }) => body.includes('rule.expired'));
    expect(more).not.toEqual([]);
    for (const one of more) {
      expect(one.body).toBe(first?.body);
      expect(one.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      expect(sentTo(webhook, one)).toBe('one');
    }
  }));

test('an endpoint that refuses notices still gets its matches; the notice is tried on the schedule and then parked', () =>
  withWebhookWorld(async (world, database) => {
    await using endpoint = await startEndpoint(({ body }) => (body.includes('"type":"notice"') ? 400 : 200));
    const webhook = await world.createWebhook(endpoint.url, { events: both });
    await raise(database, 'one');
    await using _sender = world.startSender();
    await eventually(() => expect(endpoint.received).toHaveLength(1), within);
    await world.storeMatches(['a match']);
    await eventually(() => expect(endpoint.received).toHaveLength(2), within);
    expect(endpoint.received.map((one) => sentTo(webhook, one))).toEqual(['one', 'matches']);
    const day = 86_400_000;
    await eventually(async () => {
      await world.clock.pass(day);
      const [parked] = await world.deliveries(webhook.id, 'parked');
      expect(parked?.notice_id).toMatch(/^ntc_/);
    }, within);
    expect(endpoint.received.filter(({ body }) => body.includes('"type":"notice"'))).toHaveLength(10);
    const [listed] = await world.webhooks.list('acc_1');
    expect(listed).toMatchObject({ state: 'active', failing_since: null });
  }));
