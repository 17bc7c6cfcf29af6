import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openAdmin } from '../src/admin.ts';
import type { Database } from '../src/engines/database.ts';
import { noSuchRule } from '../src/rules/refusals.ts';
import {
  type DigestWorld,
  distinct,
  messageOf,
  openDigestWorld,
  startDigestReceiver,
  textsOf,
} from './digest-world.ts';
import type { Handler, Received } from './web-endpoint.ts';

let stack: AsyncDisposableStack;
let database: Database;
let databaseUrl: string;
let world: DigestWorld;
beforeEach(async () => {
  stack = new AsyncDisposableStack();
  ({ database, world, url: databaseUrl } = await openDigestWorld(stack));
});
afterEach(() => stack.disposeAsync());

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

const startReceiver = (handler?: Handler) => startDigestReceiver(stack, world, handler);

describe('a digest to a webhook', () => {
  test('has the matches since the last one, counted and signed, at the times of its schedule', async () => {
    const { endpoint, webhook, recipients } = await startReceiver();
    await world.webhooks.storeMatches(['before the digest']);
    const digest = await world.create({ recipients });
    const createdMs = world.clock.nowMs;
    expect(Date.parse(digest.next_at)).toBe(createdMs + minuteMs);
    const node = world.startNode();
    await world.webhooks.storeMatches(['one', 'two']);
    await world.webhooks.storeMatches(['three'], 'rule_2');
    await node.tick(minuteMs - 1);
    expect(endpoint.received).toEqual([]);
    await node.tick(1);
    await node.tick();
    expect(endpoint.received).toHaveLength(1);
    const [first] = endpoint.received;
    const at = new Date(Number(first?.headers['webhook-timestamp']) * 1_000);
    const signed = new Webhook(webhook.secret).sign(
      first?.headers['webhook-id'] ?? '',
      at,
      first?.body ?? '',
    );
    expect(first?.headers['webhook-signature']).toBe(signed);
    const message = messageOf(first as Received);
    expect(message).toMatchObject({
      type: 'digest',
      webhook_id: webhook.id,
      digest_id: digest.id,
      number: 1,
      from: new Date(createdMs).toISOString(),
      to: new Date(createdMs + minuteMs).toISOString(),
      total: 3,
      counts: [
        { rule_id: 'rule_1', rule_name: 'rule', platform: 'x', matches: 2 },
        { rule_id: 'rule_2', rule_name: 'rule', platform: 'x', matches: 1 },
      ],
    });
    expect(textsOf(message)).toEqual(['one', 'two', 'three']);
    expect(await world.list()).toMatchObject([
      { last_number: 1, message: null, last_sent_at: new Date(createdMs + minuteMs).toISOString() },
    ]);

    await world.webhooks.storeMatches(['four']);
    await node.tick(minuteMs);
    const [, second] = distinct(endpoint.received);
    expect(second).toMatchObject({ number: 2, total: 1, from: message.to });
    expect(second && textsOf(second)).toEqual(['four']);
  });

  test('shows no muted matches and none that are not relevant, and counts them', async () => {
    const { endpoint, recipients } = await startReceiver();
    await world.create({ recipients, relevance: 'not_irrelevant', max_matches: 2 });
    const node = world.startNode();
    await world.webhooks.storeMatches(['one', 'spam', 'two', 'labelled', 'three', 'spam again']);
    await database.run(
      `insert into mutes (id, account_id, field, value) values ('mut_1', 'acc_1', 'phrase', ' spam ')`,
    );
    await database.run(
      `insert into match_relevance (position, account_id, rule_id, platform, event_day, label)
       select position, account_id, rule_id, platform, event_day, 'not_relevant' from matches order by position offset 3 limit 1`,
    );
    await node.tick(minuteMs);
    const [message] = distinct(endpoint.received);
    expect(message).toMatchObject({ total: 6, hidden: { muted: 1, not_relevant: 1 } });
    expect(message && textsOf(message)).toEqual(['two', 'three']);
  });

  test('shows each story once, the largest first, and counts the rest of its matches', async () => {
    const { endpoint, recipients } = await startReceiver();
    await world.create({ recipients, group: 'story', max_matches: 3 });
    const node = world.startNode();
    const story = (name: string) => `${name}: the turbine hall was quiet when the first engineers arrived`;
    await world.webhooks.storeMatches([story('a')]);
    await node.tick(minuteMs);
    await world.webhooks.storeMatches(
      ['b', 'a', 'a', 'one', 'b', 'a', 'two'].map((name) => (name.length === 1 ? story(name) : name)),
    );
    await node.tick(minuteMs);
    const [, message] = distinct(endpoint.received);
    expect(message).toMatchObject({ total: 7, hidden: { muted: 0, not_relevant: 0, in_story: 3 } });
    // Only what is new since the previous message counts.
    expect(message?.matches).toMatchObject([
      { text: story('a'), story: { matches: 3, platforms: { x: 3 } } },
      { text: story('b'), story: { matches: 2 } },
      { text: 'two', story: { matches: 1 } },
    ]);
  });

  test('waits for enough matches, and shows no more than its maximum', async () => {
    const { endpoint, recipients } = await startReceiver();
    await world.create({ recipients, min_matches: 3, max_matches: 2 });
    const node = world.startNode();
    for (const text of ['one', 'two', 'three', 'four']) {
      await world.webhooks.storeMatches([text]);
      await node.tick(minuteMs);
    }
    expect(endpoint.received.map(messageOf)).toMatchObject([
      { number: 1, total: 3, matches: [{ text: 'three' }, { text: 'two' }] },
    ]);
  });

  test('has only the matches of its filter, and is not sent while the account is suspended', async () => {
    const { endpoint, recipients } = await startReceiver();
    await world.create({ recipients, rule_ids: ['rule_1'] });
    await world.webhooks.storeMatches(['mine']);
    await world.webhooks.storeMatches(['of another rule'], 'rule_2');
    await database.run(`update accounts set suspended_at = now() where id = 'acc_1'`);
    await world.startNode().tick(minuteMs);
    expect(endpoint.received).toEqual([]);
    // No message was made meanwhile: one message covers all of this time.
    await world.webhooks.storeMatches(['stored later']);
    await database.run('update accounts set suspended_at = null');
    await world.startNode().tick();
    const texts = [{ text: 'stored later' }, { text: 'mine' }];
    expect(endpoint.received.map(messageOf)).toMatchObject([{ number: 1, total: 2, matches: texts }]);
  });

  test('of several rules has only their matches in order, also after its rules change or one is deleted', async () => {
    const { endpoint, recipients } = await startReceiver();
    const { id } = await world.create({ recipients, rule_ids: ['rule_1', 'rule_3'], min_matches: 3 });
    const node = world.startNode();
    await world.webhooks.storeMatches(['a'], 'rule_3');
    await world.webhooks.storeMatches(['other', 'another'], 'rule_2');
    await world.webhooks.storeMatches(['b']);
    await node.tick(minuteMs);
    expect(endpoint.received).toEqual([]);
    await world.webhooks.storeMatches(['c'], 'rule_3');
    await node.tick(minuteMs);
    expect(endpoint.received.map(messageOf)).toMatchObject([
      {
        total: 3,
        counts: [
          { rule_id: 'rule_3', matches: 2 },
          { rule_id: 'rule_1', matches: 1 },
        ],
      },
    ]);
    expect(endpoint.received.map(messageOf).map(textsOf)).toEqual([['a', 'b', 'c']]);

    await world.webhooks.storeMatches(['deleted later'], 'rule_3');
    await world.webhooks.storeMatches(['d', 'e', 'f'], 'rule_2');
    await database.run(`update rules set state = 'deleted' where id = 'rule_3'`);
    await expect(world.update({ digest_id: id, rule_ids: ['rule_none'] })).rejects.toMatchObject(
      noSuchRule(),
    );
    const rule_ids = ['rule_3', 'rule_1', 'rule_2'];
    expect(await world.update({ digest_id: id, rule_ids })).toMatchObject({ rule_ids });
    await node.tick(minuteMs);
    const second = endpoint.received.slice(1).map(messageOf);
    expect(second.map(textsOf)).toEqual([['d', 'e', 'f']]);
    await database.run(`update rules set state = 'deleted'`);
    await node.tick(minuteMs);
    expect(await world.list()).toMatchObject([{ message: expect.stringMatching(/^All rules .* deleted/) }]);
  });

  test('does not have items that were removed after it was made', async () => {
    let isUp = false;
    const { endpoint, recipients } = await startReceiver(() => (isUp ? 200 : 500));
    await world.create({ recipients });
    await world.webhooks.storeMatches(['stays', 'goes']);
    await world.startNode().tick(minuteMs);
    expect(endpoint.received.map(messageOf).map(textsOf)).toEqual([['stays', 'goes']]);
    const post = await database.one<{ id: string }>(
      `select platform_post_id as id from posts where payload like '%goes%'`,
    );
    const asOwner = new URL(databaseUrl);
    asOwner.searchParams.set('options', '-c role=earshot_owner');
    const admin = stack.use(await openAdmin(asOwner.href));
    expect(await admin.forget({ post: post?.id ?? '' })).toMatchObject({ matches: 1 });
    isUp = true;
    await world.startNode().tick(minuteMs);
    const again = endpoint.received.slice(1);
    expect(again.map(messageOf)).toMatchObject([{ number: 1, total: 1 }]);
    expect(again.map(messageOf).map(textsOf)).toEqual([['stays']]);
    expect(again[0]?.headers['webhook-id']).toBe(endpoint.received[0]?.headers['webhook-id']);
  });
});

describe('without matches', () => {
  test('a digest sends nothing, or that nothing matched in a period without gaps', async () => {
    const { endpoint, recipients } = await startReceiver();
    await world.create({ recipients, name: 'skips' });
    await world.create({ recipients, name: 'sends', empty: 'send', rule_ids: ['rule_1'] });
    await world.startNode().tick(minuteMs);
    expect(endpoint.received.map(messageOf)).toMatchObject([
      { name: 'sends', total: 0, matches: [], coverage: { without_gap: true, gaps: [] } },
    ]);
  });

  test('a digest lists a gap, also one that has not ended yet', async () => {
    const { endpoint, recipients } = await startReceiver();
    await world.create({ recipients, empty: 'send' });
    const startMs = world.clock.nowMs;
    const at = (seconds: number) => new Date(startMs + seconds * 1_000);
    await database.run(`update coverage set proven_until = $1, ended_because = 'closed'`, [at(10)]);
    await database.run(
      `insert into coverage (source_id, from_at, proven_until) values ('x:main', $1, clock_timestamp())`,
      [at(20)],
    );
    world.clock.nowMs += minuteMs;
    const node = world.startNode();
    await node.tick();
    await database.run(`update coverage set proven_until = $1, ended_because = 'closed' where from_at = $2`, [
      at(90),
      at(20),
    ]);
    await node.tick(minuteMs);
    expect(endpoint.received.map((one) => messageOf(one).coverage)).toMatchObject([
      {
        without_gap: false,
        gaps: [{ platform: 'x', from: at(10).toISOString(), to: at(20).toISOString(), reason: 'closed' }],
      },
      { without_gap: false, gaps: [{ from: at(90).toISOString(), to: null }] },
    ]);
  });

  test('a digest of several rules has a gap of any of them, and a gap of all only once', async () => {
    const { endpoint, recipients } = await startReceiver();
    await world.create({ recipients, empty: 'send', rule_ids: ['rule_1', 'rule_2'] });
    const startMs = world.clock.nowMs;
    const at = (seconds: number) => new Date(startMs + seconds * 1_000);
    await database.run(
      `insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id)
       values ('rule_2', 1, 'x', 'v2', 'v2', 'slot_2')`,
    );
    await database.run(`update watches set from_at = $1 where rule_id = 'rule_2'`, [at(5)]);
    await database.run(`update coverage set proven_until = $1, ended_because = 'closed'`, [at(10)]);
    await database.run(
      `insert into coverage (source_id, from_at, proven_until) values ('x:main', $1, clock_timestamp())`,
      [at(20)],
    );
    await world.startNode().tick(minuteMs);
    expect(endpoint.received.map((one) => messageOf(one).coverage)).toMatchObject([
      {
        without_gap: false,
        gaps: [
          { from: at(0).toISOString(), to: at(5).toISOString(), reason: 'not_watched' },
          { from: at(10).toISOString(), to: at(20).toISOString(), reason: 'closed' },
        ],
      },
    ]);
  });

  test('a digest makes no claim about unmatched events: it waits for them, two minutes at most', async () => {
    const { endpoint, recipients } = await startReceiver();
    await world.create({ recipients, empty: 'send' });
    await database.run('update match_progress set matched_through = $1', [new Date(world.clock.nowMs)]);
    const node = world.startNode();
    await node.tick(minuteMs);
    expect(endpoint.received).toEqual([]);
    await database.run('update match_progress set matched_through = now()');
    await node.tick(5_000);
    expect(endpoint.received.map(messageOf)).toMatchObject([{ coverage: { without_gap: true } }]);
    await database.run('update match_progress set matched_through = $1', [new Date(world.clock.nowMs)]);
    await node.tick(minuteMs);
    expect(endpoint.received).toHaveLength(1);
    await node.tick(2 * minuteMs);
    expect(endpoint.received.map(messageOf)[1]).toMatchObject({ coverage: { without_gap: false, gaps: [] } });
  });
});

describe('a digest message that cannot be sent', () => {
  const noticesOf = async () => {
    const rows = await database.many<{ type: string; open: boolean; data: object }>(
      'select type, resolved_at is null as open, data from notices order by position',
    );
    return rows.map(({ type, open, data }) => ({ type, open, data }));
  };

  test('is retried, its owner is notified once, and the notice is resolved after a success', async () => {
    let isUp = false;
    const { endpoint, recipients } = await startReceiver(() => (isUp ? 200 : 503));
    await world.create({ recipients });
    await world.webhooks.storeMatches(['one']);
    const node = world.startNode();
    await node.tick(minuteMs);
    expect(await noticesOf()).toEqual([]);
    const [digest] = await world.list();
    expect(digest?.message).toContain('503');
    for (let tries = 0; tries < 20; tries++) {
      await node.tick(minuteMs);
    }
    // After 5 s, 1 min, 5 min and 15 min, as far as these are over.
    expect(endpoint.received).toHaveLength(4);
    expect(new Set(endpoint.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await noticesOf()).toMatchObject([{ type: 'digest.failing', open: true, data: { number: 1 } }]);
    isUp = true;
    await node.tick(hourMs);
    expect(await noticesOf()).toMatchObject([{ type: 'digest.failing', open: false }]);
    expect(await world.list()).toMatchObject([{ message: null, last_number: 1 }]);
  });

  test('is given up after a day with a notice that names its period, and the next one is made', async () => {
    let isUp = false;
    const { endpoint, recipients } = await startReceiver(() => (isUp ? 200 : 500));
    const { next_at: firstAt, created_at } = await world.create({ recipients });
    await world.webhooks.storeMatches(['one']);
    const node = world.startNode();
    for (let hours = 0; hours < 26; hours++) {
      await node.tick(hours === 0 ? minuteMs : hourMs);
    }
    expect((await noticesOf()).filter(({ type }) => type === 'digest.given_up')).toMatchObject([
      { open: false, data: { number: 1, from: created_at, to: firstAt } },
    ]);
    isUp = true;
    await world.webhooks.storeMatches(['two']);
    await node.tick(hourMs);
    const last = endpoint.received.at(-1);
    expect(last && messageOf(last)).toMatchObject({
      number: 2,
      from: firstAt,
      total: 1,
      matches: [{ text: 'two' }],
    });
  });

  test('waits while its webhook is paused, and goes to another recipient after a change', async () => {
    const paused = await startReceiver();
    const other = await startReceiver();
    const digest = await world.create({ recipients: paused.recipients });
    await database.run(`update webhooks set state = 'paused' where id = $1`, [paused.webhook.id]);
    await world.webhooks.storeMatches(['one']);
    await world.startNode().tick(minuteMs);
    expect(await world.list()).toMatchObject([{ message: 'The webhook is paused.' }]);
    expect(await world.update({ digest_id: digest.id, recipients: other.recipients })).toMatchObject({
      message: null,
      recipients: other.recipients,
    });
    await world.startNode().tick();
    expect(paused.endpoint.received).toEqual([]);
    expect(other.endpoint.received.map(messageOf)).toMatchObject([{ number: 1, total: 1 }]);
  });
});

describe('clocks', () => {
  test('a clock that goes back an hour makes nothing due again, and one that jumps a day makes one message for all of it', async () => {
    const { endpoint, recipients } = await startReceiver();
    world.clock.nowMs = Date.parse(`${new Date(world.clock.nowMs).toISOString().slice(0, 13)}:30:00Z`);
    await world.create({
      recipients,
      schedule: { cron: '0 * * * *', time_zone: 'Europe/Berlin' },
      empty: 'send',
    });
    const node = world.startNode();
    await node.tick(31 * minuteMs);
    expect(endpoint.received).toHaveLength(1);
    world.clock.nowMs -= hourMs;
    for (let minutes = 0; minutes < 110; minutes += 10) {
      await node.tick(10 * minuteMs);
    }
    expect(endpoint.received).toHaveLength(1);
    await world.webhooks.storeMatches(['one', 'two']);
    await node.tick(24 * hourMs);
    await node.tick();
    expect(endpoint.received.slice(1).map(messageOf)).toMatchObject([{ number: 2, total: 2 }]);
    const [first, second] = endpoint.received.map(messageOf);
    expect(second?.from).toBe(first?.to);
  });
});

test('without a mail server no digest is sent by e-mail', async () => {
  await expect(world.create({ recipients: { email: ['one@example.org'] } })).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringContaining('EARSHOT_SMTP_URL'),
  });
});
