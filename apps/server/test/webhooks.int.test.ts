import { operations } from '@earshot/contract';
import { eventually } from '@earshot/testkit';
import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Database } from '../src/engines/database.ts';
import { raiseNotices, resolveNotices } from '../src/notices/notice-log.sql.ts';
import { noSuchRule } from '../src/rules/refusals.ts';
import { createDeliveryStore } from '../src/webhooks/delivery-store.sql.ts';
import { type Received, startEndpoint } from './web-endpoint.ts';
import { passToNextAttempt, type TestWebhook, withWebhookWorld } from './webhook-world.ts';

const within = { timeoutMs: 100_000 };
const hour = 3_600_000;

const texts = (count: number, prefix = 'post') =>
  Array.from({ length: count }, (_, index) => `${prefix} ${index}`);

/** Verified by the published library; throws if the signature is not valid. */
function textsOf({ body, headers }: Received, { id, secret }: TestWebhook): string[] {
  const message = new Webhook(secret).verify(body, headers);
  const parsed = Object(message);
  expect(parsed).toMatchObject({ type: 'matches', webhook_id: id });
  const { matches } = operations.ListMatches.answer.parse({
    matches: parsed.matches,
    next_cursor: null,
    coverage: null,
  });
  return matches.map(({ payload }) => payload.text ?? '');
}

describe('a sender whose clock is wrong', () => {
  afterEach(() => void vi.useRealTimers());

  test.each([
    ['ahead', hour],
    ['behind', -hour],
  ])('by an hour (%s) does not keep other senders from its webhooks', (_, offsetMs) =>
    withWebhookWorld(async (world, database) => {
      await using healthy = await startEndpoint();
      await using failing = await startEndpoint(() => 500);
      const webhook = await world.createWebhook(healthy.url);
      await world.createWebhook(failing.url);
      await world.storeMatches(['one']);
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + offsetMs });
      const wrong = world.startSender();
      const states = () =>
        database.many(
          `select failures, (next_attempt_at <= now()) as is_due,
             (extract(epoch from greatest(next_attempt_at, now()) - now()) <= 6) as is_soon,
             (extract(epoch from now() - failing_since) between 0 and 60) as has_just_failed
           from webhooks order by failures`,
        );
      const works = { failures: 0, is_due: true, is_soon: true, has_just_failed: null };
      await eventually(async () => {
        expect(healthy.received).toHaveLength(1);
        expect(await states()).toMatchObject([works, { is_soon: true, has_just_failed: true }]);
      }, within);
      await wrong[Symbol.asyncDispose]();
      vi.useRealTimers();
      await using _right = world.startSender();
      await world.storeMatches(['two']);
      await eventually(() => expect(healthy.received).toHaveLength(2), { timeoutMs: 20_000 });
      expect(healthy.received.map((one) => textsOf(one, webhook))).toEqual([['one'], ['two']]);
    }),
  );
});

describe('a webhook', () => {
  test('gets every match once and in order, in batches, signed; a rule or platform narrows it', () =>
    withWebhookWorld(async (world) => {
      await using endpoint = await startEndpoint();
      await using narrow = await startEndpoint();
      await using none = await startEndpoint();
      const webhook = await world.createWebhook(endpoint.url);
      const ofRule2 = await world.createWebhook(narrow.url, { ruleIds: ['rule_2'] });
      await world.createWebhook(none.url, { platform: 'firehose' });
      await world.storeMatches(texts(250));
      await world.storeMatches(['of the second rule'], 'rule_2');
      await using _sender = world.startSender();
      const sent = () => endpoint.received.flatMap((one) => textsOf(one, webhook));
      await eventually(() => expect(sent()).toHaveLength(251), within);
      await world.storeMatches(['one more']);
      await eventually(() => expect(sent()).toHaveLength(252), within);
      expect(sent()).toEqual([...texts(250), 'of the second rule', 'one more']);
      expect(endpoint.received).toHaveLength(4);
      expect(narrow.received.flatMap((one) => textsOf(one, ofRule2))).toEqual(['of the second rule']);
      expect(none.received).toEqual([]);
      // Successes of a minute are counted in one entry.
      const counted = { outcome: 'delivered', status: 200, attempt: 1, times: 4, match_count: 252 };
      await eventually(
        async () => expect(await world.deliveries(webhook.id)).toEqual([expect.objectContaining(counted)]),
        within,
      );
    }));

  test('gets at most one message in its window, and full messages at once', () =>
    withWebhookWorld(async (world) => {
      await using endpoint = await startEndpoint();
      const webhook = await world.createWebhook(endpoint.url, { windowSeconds: 60, maxMatches: 3 });
      await using _sender = world.startSender();
      const sent = () => endpoint.received.map((one) => textsOf(one, webhook));
      const isSent = (...messages: string[][]) => eventually(() => expect(sent()).toEqual(messages), within);
      await world.storeMatches(['a']);
      await isSent(['a']);
      await world.storeMatches(['b']);
      await world.storeMatches(['c', 'd', 'e', 'f']);
      await world.clock.pass(50_000);
      // Proves nothing about time: another webhook of this sender gets what this one must wait for.
      await using other = await startEndpoint();
      await world.createWebhook(other.url);
      await world.storeMatches(['g']);
      await eventually(() => expect(other.received).toHaveLength(1), within);
      await isSent(['a']);
      await world.clock.pass(11_000);
      await isSent(['a'], ['b', 'c', 'd'], ['e', 'f', 'g']);
      await world.storeMatches(['h']);
      await isSent(['a'], ['b', 'c', 'd'], ['e', 'f', 'g'], ['h']);
    }));

  test('leaves out muted matches and counts them, and waits for verdicts for 30 s at the most', () =>
    withWebhookWorld(async (world, database) => {
      await using endpoint = await startEndpoint();
      await using chat = await startEndpoint();
      const webhook = await world.createWebhook(endpoint.url, { relevance: 'not_irrelevant' });
      await world.createWebhook(chat.url, {
        format: 'slack',
        windowSeconds: 30,
        relevance: 'not_irrelevant',
      });
      await database.run(
        `insert into mutes (id, account_id, field, value) values ('mut_1', 'acc_1', 'phrase', ' spam ')`,
      );
      await database.run(
        `update rules set judged_position = 0, relevance = '{"judge":true,"accept_unproven":true}' where id = 'rule_2'`,
      );
      await world.storeMatches(['spam', 'one', 'more spam', 'two']);
      await world.storeMatches(['kettle', 'rocket', 'unjudged'], 'rule_2');
      await world.storeMatches(['after', 'spam']);
      await using _sender = world.startSender();
      const sent = () => endpoint.received.flatMap((one) => textsOf(one, webhook));
      await eventually(() => expect(sent()).toEqual(['one', 'two']), within);
      expect(Object(JSON.parse(endpoint.received[0]?.body ?? '{}')).hidden).toEqual({
        muted: 2,
        not_relevant: 0,
      });
      const judge = (text: string, verdict: string) =>
        database.run(
          `insert into match_relevance (position, account_id, rule_id, platform, event_day, verdict)
           select position, account_id, rule_id, matches.platform, matches.event_day, $2 from matches
           join posts using (event_key, event_day) where payload like '%"' || $1 || '"%' and rule_id = 'rule_2'`,
          [text, verdict],
        );
      await judge('kettle', 'not_relevant');
      await judge('rocket', 'relevant');
      await eventually(() => expect(sent()).toEqual(['one', 'two', 'rocket']), within);
      // The judge gives no verdict: 30 s later it is sent, and what follows it.
      await database.run(`update matches set created_at = created_at - interval '31 seconds'`);
      await eventually(() => expect(sent()).toEqual(['one', 'two', 'rocket', 'unjudged', 'after']), within);
      await eventually(async () => {
        const row = await database.one<{ done: boolean }>(
          'select bool_and(position = last_position) as done from webhooks, match_log where format = $1',
          ['standard'],
        );
        expect(row?.done).toBe(true);
      }, within);
      const shown = chat.received.map(({ body }) => body).join();
      expect(shown).toContain('2 matches are muted');
      expect(shown).not.toMatch(/spam|kettle/);
    }));

  test('of two rules gets their matches in order, and is due only for them', () =>
    withWebhookWorld(async (world, database) => {
      await using endpoint = await startEndpoint();
      const webhook = await world.createWebhook(endpoint.url, { ruleIds: ['rule_1', 'rule_3'] });
      await world.storeMatches(['other'], 'rule_2');
      expect(await createDeliveryStore(database).leaseDue({ max: 10, troubled: false })).toEqual([]);
      for (const [text, rule] of [
        ['a', 'rule_3'],
        ['b', 'rule_1'],
        ['other', 'rule_2'],
        ['c', 'rule_3'],
      ] as const)
        await world.storeMatches([text], rule);
      await using _sender = world.startSender();
      await eventually(() => expect(endpoint.received).toHaveLength(1), within);
      expect(endpoint.received.flatMap((one) => textsOf(one, webhook))).toEqual(['a', 'b', 'c']);
    }));

  test('that gets another rule neither repeats nor skips a match of the first, and gets the new ones from then on', () =>
    withWebhookWorld(async (world) => {
      await using endpoint = await startEndpoint();
      const webhook = await world.createWebhook(endpoint.url, { ruleIds: ['rule_1'] });
      const sender = world.startSender();
      await world.storeMatches(['first']);
      await eventually(async () => expect(await world.deliveries(webhook.id)).toHaveLength(1), within);
      await sender[Symbol.asyncDispose]();
      await world.storeMatches(['before the change'], 'rule_2');
      const setRules = (...rule_ids: string[]) =>
        world.webhooks.update(world.change('UpdateWebhook'), webhook.id, { rule_ids });
      expect(await setRules('rule_1', 'rule_2')).toMatchObject({ rule_ids: ['rule_1', 'rule_2'] });
      await world.storeMatches(['second'], 'rule_2');
      await world.storeMatches(['third']);
      // Both still wait, so nothing is skipped.
      await setRules('rule_3', 'rule_2', 'rule_1');
      await using _sender = world.startSender();
      const sent = () => endpoint.received.flatMap((one) => textsOf(one, webhook));
      await eventually(() => expect(sent().length).toBeGreaterThan(2), within);
      expect(sent()).toEqual(['first', 'second', 'third']);
    }));

  test('that gets another rule during an attempt repeats it as the same message, but not if it loses one', () =>
    withWebhookWorld(async (world) => {
      const held: (() => void)[] = [];
      await using endpoint = await startEndpoint((_received, response) => {
        if (held.length === 2) return 200;
        held.push(() => response.writeHead(200).end());
        return undefined;
      });
      const webhook = await world.createWebhook(endpoint.url, { ruleIds: ['rule_1', 'rule_2'] });
      await world.storeMatches(['a']);
      await world.storeMatches(['b'], 'rule_2');
      await using _sender = world.startSender();
      for (const [index, rule_ids] of [
        ['rule_1', 'rule_2', 'rule_3'],
        ['rule_1', 'rule_3'],
      ].entries()) {
        await eventually(() => expect(held).toHaveLength(index + 1), within);
        await world.webhooks.update(world.change('UpdateWebhook'), webhook.id, { rule_ids });
        held[index]?.();
      }
      await eventually(() => expect(endpoint.received).toHaveLength(3), within);
      const [first, again, last] = endpoint.received;
      expect(again?.body).toBe(first?.body);
      expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      expect(endpoint.received.map((one) => textsOf(one, webhook))).toEqual([['a', 'b'], ['a', 'b'], ['a']]);
      expect(last?.headers['webhook-id']).not.toBe(first?.headers['webhook-id']);
    }));

  test('keeps the id of a deleted rule, but does not accept it as a new one', () =>
    withWebhookWorld(async (world, database) => {
      const webhook = await world.createWebhook('https://hooks.example/', { ruleIds: ['rule_1'] });
      const other = await world.createWebhook('https://hooks.example/', { ruleIds: ['rule_3'] });
      await database.run(`update rules set state = 'deleted' where id = 'rule_1'`);
      const rule_ids = ['rule_1', 'rule_2'];
      const update = (id: string) => world.webhooks.update(world.change('UpdateWebhook'), id, { rule_ids });
      expect(await update(webhook.id)).toMatchObject({ rule_ids });
      await expect(update(other.id)).rejects.toMatchObject(noSuchRule());
    }));

  test('that is created later does not get earlier matches', () =>
    withWebhookWorld(async (world) => {
      await world.storeMatches(['before']);
      await using endpoint = await startEndpoint();
      const webhook = await world.createWebhook(endpoint.url);
      await using _sender = world.startSender();
      await world.storeMatches(['after']);
      await eventually(() => expect(endpoint.received).toHaveLength(1), within);
      expect(endpoint.received.flatMap((one) => textsOf(one, webhook))).toEqual(['after']);
    }));

  test('is retried with the same bytes under the same id, after a 429 not before the given time', () =>
    withWebhookWorld(async (world) => {
      let answers = 0;
      await using endpoint = await startEndpoint((_received, response) => {
        if (answers++ === 0) response.writeHead(429, { 'retry-after': '3600' }).end('later');
        return answers === 1 ? undefined : answers === 2 ? 500 : 200;
      });
      const webhook = await world.createWebhook(endpoint.url);
      await world.storeMatches(['a', 'b']);
      await using _sender = world.startSender();
      await eventually(async () => expect(await world.deliveries(webhook.id)).toHaveLength(1), within);
      const [waiting] = await world.webhooks.list('acc_1');
      const waitMs = Date.parse(waiting?.next_attempt_at ?? '') - Date.now();
      expect(Math.abs(waitMs - hour)).toBeLessThan(60_000);
      // Matches that arrive meanwhile are for the next batch.
      await world.storeMatches(['c']);
      await world.clock.pass(hour);
      await eventually(async () => expect(await world.deliveries(webhook.id)).toHaveLength(2), within);
      await world.clock.pass(hour);
      await eventually(() => expect(endpoint.received).toHaveLength(4), within);
      const [first, second, third, fourth] = endpoint.received;
      for (const again of [second, third]) {
        expect(again?.body).toBe(first?.body);
        expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
      }
      expect(fourth?.headers['webhook-id']).not.toBe(first?.headers['webhook-id']);
      await eventually(async () => expect(await world.deliveries(webhook.id)).toHaveLength(4), within);
      const attempts = (await world.deliveries(webhook.id)).map(({ outcome, attempt }) => [outcome, attempt]);
      expect(attempts.toReversed()).toEqual([
        ['failed', 1],
        ['failed', 2],
        ['delivered', 3],
        ['delivered', 1],
      ]);
      expect((await world.webhooks.list('acc_1'))[0]).toMatchObject({ failing_since: null });
    }));

  test('that answers 410 is disabled at once, which is audited, and continues where it stopped', () =>
    withWebhookWorld(async (world, database) => {
      let gone = true;
      await using endpoint = await startEndpoint(() => (gone ? 410 : 200));
      const webhook = await world.createWebhook(endpoint.url);
      await world.storeMatches(['a']);
      await using _sender = world.startSender();
      const state = async () => (await world.webhooks.list('acc_1'))[0];
      await eventually(async () => expect(await state()).toMatchObject({ state: 'disabled' }), within);
      expect(await state()).toMatchObject({ reason: 'gone' });
      expect(
        await database.many(`select actor, target_id, after from audit where operation = 'DisableWebhook'`),
      ).toEqual([
        {
          actor: 'earshot',
          target_id: webhook.id,
          after: { state: 'disabled', reason: 'gone' },
        },
      ]);
      gone = false;
      await world.storeMatches(['b']);
      await world.webhooks.update(world.change('UpdateWebhook'), webhook.id, { state: 'active' });
      await eventually(() => expect(endpoint.received).toHaveLength(3), within);
      const [refused, again, next] = endpoint.received;
      expect(again?.body).toBe(refused?.body);
      expect(next && textsOf(next, webhook)).toEqual(['b']);
      expect(await state()).toMatchObject({ state: 'active', reason: null });
    }));

  test('that is paused gets nothing, and everything after it is resumed', () =>
    withWebhookWorld(async (world) => {
      await using endpoint = await startEndpoint();
      await using other = await startEndpoint();
      const webhook = await world.createWebhook(endpoint.url);
      await world.createWebhook(other.url);
      await world.webhooks.update(world.change('UpdateWebhook'), webhook.id, { state: 'paused' });
      await using _sender = world.startSender();
      await world.storeMatches(['a', 'b']);
      await eventually(() => expect(other.received).toHaveLength(1), within);
      expect(endpoint.received).toEqual([]);
      await world.webhooks.update(world.change('UpdateWebhook'), webhook.id, { state: 'active' });
      await eventually(() => expect(endpoint.received).toHaveLength(1), within);
      expect(endpoint.received.flatMap((one) => textsOf(one, webhook))).toEqual(['a', 'b']);
    }));

  test('that refuses some matches gets the others, and the refused ones are listed as parked', () =>
    withWebhookWorld(async (world) => {
      await using endpoint = await startEndpoint(({ body }) => (body.includes('poison') ? 422 : 200));
      const webhook = await world.createWebhook(endpoint.url);
      const all = texts(120).map((text, index) => ([7, 57, 58].includes(index) ? `poison ${index}` : text));
      await world.storeMatches(all);
      await using _sender = world.startSender();
      const accepted = () =>
        endpoint.received
          .filter(({ body }) => !body.includes('poison'))
          .flatMap((one) => textsOf(one, webhook));
      await eventually(async () => {
        await passToNextAttempt(world);
        return expect(accepted()).toHaveLength(117);
      }, within);
      expect(accepted()).toEqual(all.filter((text) => !text.startsWith('poison')));
      await eventually(
        async () => expect(await world.deliveries(webhook.id, 'parked')).toHaveLength(3),
        within,
      );
      const parked = (await world.deliveries(webhook.id, 'parked')).map((one) => one.first_match_id ?? '');
      expect(parked.toSorted()).toEqual(['mat_000000000008', 'mat_00000000001m', 'mat_00000000001n']);
    }));

  test('that is replayed gets everything again as new messages, also during an attempt', () =>
    withWebhookWorld(async (world) => {
      const arrived = Promise.withResolvers<void>();
      const goOn = Promise.withResolvers<void>();
      let first = true;
      await using endpoint = await startEndpoint((_received, response) => {
        if (!first) return 200;
        first = false;
        arrived.resolve();
        void goOn.promise.then(() => response.writeHead(200).end());
        return undefined;
      });
      const webhook = await world.createWebhook(endpoint.url);
      await world.storeMatches(['a', 'b']);
      await using _sender = world.startSender();
      await arrived.promise;
      const answer = { webhook_id: webhook.id, from_match_id: 'mat_000000000001' };
      expect(await world.webhooks.setBack(world.change('ReplayWebhook'), webhook.id, 0, answer)).toBe(true);
      goOn.resolve();
      await eventually(() => expect(endpoint.received).toHaveLength(2), within);
      const [before, again] = endpoint.received;
      expect(again && textsOf(again, webhook)).toEqual(['a', 'b']);
      expect(again?.headers['webhook-id']).not.toBe(before?.headers['webhook-id']);
    }));

  test('with a new secret has both signatures until the old one has expired', () =>
    withWebhookWorld(async (world, database) => {
      await using endpoint = await startEndpoint();
      const webhook = await world.createWebhook(endpoint.url);
      const other = await world.createWebhook(endpoint.url);
      await world.webhooks.remove(world.change('DeleteWebhook'), other.id);
      await database.run(
        `update webhooks set previous_secret = secret, previous_secret_until = now() + interval '24 hours'`,
      );
      await using _sender = world.startSender();
      await world.storeMatches(['a']);
      await eventually(() => expect(endpoint.received).toHaveLength(1), within);
      expect(endpoint.received[0]?.headers['webhook-signature']?.split(' ')).toHaveLength(2);
      await database.run('update webhooks set previous_secret_until = now()');
      await world.storeMatches(['b']);
      await eventually(() => expect(endpoint.received).toHaveLength(2), within);
      expect(endpoint.received[1]?.headers['webhook-signature']?.split(' ')).toHaveLength(1);
      expect(endpoint.received.flatMap((one) => textsOf(one, webhook))).toEqual(['a', 'b']);
    }));
});

test('with a secret that cannot be decrypted gets nothing, and the failure does not count', () =>
  withWebhookWorld(async (world, database) => {
    await using endpoint = await startEndpoint();
    const webhook = await world.createWebhook(endpoint.url);
    const other = await world.createWebhook('https://hooks.example/');
    await database.run(
      'update webhooks set secret = (select secret from webhooks where id = $2) where id = $1',
      [webhook.id, other.id],
    );
    await world.webhooks.remove(world.change('DeleteWebhook'), other.id);
    await using _sender = world.startSender();
    await world.storeMatches(['a']);
    await eventually(async () => expect(await world.deliveries(webhook.id)).toHaveLength(1), within);
    expect(await world.deliveries(webhook.id)).toMatchObject([{ outcome: 'not_sent', status: null }]);
    expect(await world.webhooks.list('acc_1')).toMatchObject([{ state: 'active', failing_since: null }]);
    expect(endpoint.received).toEqual([]);
  }));

const both = ['matches', 'notices'] as const;
const expired = (ruleId: string) =>
  ({
    type: 'rule.expired',
    subject: { kind: 'rule', id: ruleId, name: 'n' },
    data: { expires_at: null },
  }) as const;
const raise = (database: Database, ruleId: string) => raiseNotices(database, ['acc_1'], expired(ruleId));

/** Verified by the published library: `matches`, or the subject of a notice and whether it is resolved. */
function sentTo({ id, secret }: TestWebhook, { body, headers }: Received): string {
  const message = Object(new Webhook(secret).verify(body, headers));
  expect(message.webhook_id).toBe(id);
  if (message.type !== 'notice') return message.type;
  const { notices } = operations.ListNotices.answer.parse({ notices: [message.notice], next_cursor: null });
  return notices
    .map(({ subject, resolved_at }) => `${subject.id}${resolved_at === null ? '' : ' over'}`)
    .join();
}

describe('notices', () => {
  test('a webhook for notices gets each in a separate message, in order, and again when it is resolved', () =>
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

  test('a failed notice is repeated with the same id and bytes, after the scheduled wait', () =>
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
      // It is also notified that the webhook failed, and works again.
      const [first, ...more] = endpoint.received.filter(({ body }) => body.includes('rule.expired'));
      expect(more).not.toEqual([]);
      for (const one of more) {
        expect(one.body).toBe(first?.body);
        expect(one.headers['webhook-id']).toBe(first?.headers['webhook-id']);
        expect(sentTo(webhook, one)).toBe('one');
      }
    }));

  test('an endpoint that refuses notices still gets its matches; the notice is retried as scheduled and then parked', () =>
    withWebhookWorld(async (world, database) => {
      await using endpoint = await startEndpoint(({ body }) =>
        body.includes('"type":"notice"') ? 400 : 200,
      );
      const webhook = await world.createWebhook(endpoint.url, { events: both });
      await raise(database, 'one');
      await using _sender = world.startSender();
      await eventually(() => expect(endpoint.received).toHaveLength(1), within);
      await world.storeMatches(['a match']);
      await eventually(() => expect(endpoint.received).toHaveLength(2), within);
      expect(endpoint.received.map((one) => sentTo(webhook, one))).toEqual(['one', 'matches']);
      const attemptsMax = 10;
      for (let made = 1; made <= attemptsMax; made++) {
        // Not during an attempt, whose claim would expire.
        await eventually(async () => {
          const refused = await world.deliveries(webhook.id, 'refused');
          expect(refused.reduce((sum, { times }) => sum + times, 0)).toBe(made);
        }, within);
        await world.clock.pass(86_400_000);
      }
      const [parked] = await world.deliveries(webhook.id, 'parked');
      expect(parked?.notice_id).toMatch(/^ntc_/);
      await world.storeMatches(['another match']);
      await eventually(() => expect(endpoint.received).toHaveLength(attemptsMax + 2), within);
      expect(endpoint.received.at(-1)?.body).toContain('another match');
      const [listed] = await world.webhooks.list('acc_1');
      expect(listed).toMatchObject({ state: 'active', failing_since: null });
    }));
});

test('a webhook that groups by story gets its first and its tenth match, from where it was created', () =>
  withWebhookWorld(async (world) => {
    await using endpoint = await startEndpoint();
    const story = 'The turbine hall was quiet when the first engineers arrived before dawn';
    await world.storeMatches([story, story]);
    const webhook = await world.createWebhook(endpoint.url, { group: 'story' });
    await world.storeMatches([story, story, 'alone']);
    await using _sender = world.startSender();
    const received = () => endpoint.received.flatMap((one) => textsOf(one, webhook));
    await eventually(() => expect(received()).toEqual([story, 'alone']), within);
    const [first] = endpoint.received;
    const { matches, hidden } = JSON.parse(first?.body ?? '');
    expect(matches).toMatchObject([
      { story: { matches: 2, platforms: { x: 2 } } },
      { story: { matches: 1 } },
    ]);
    expect(hidden).toMatchObject({ in_story: 1 });
    await world.storeMatches([...texts(7).map(() => story), 'alone too', story, story]);
    await eventually(() => expect(received()).toEqual([story, 'alone', 'alone too', story]), within);
    expect(JSON.parse(endpoint.received.at(-1)?.body ?? '')).toMatchObject({
      matches: [{}, { story: { matches: 11 } }],
      hidden: { muted: 0, not_relevant: 0, in_story: 7 },
    });
  }));
