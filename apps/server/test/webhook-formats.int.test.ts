import { verifyWebhook } from '@earshot/sdk';
import { eventually } from '@earshot/testkit';
import { describe, expect, test } from 'vitest';
import { openAdmin } from '../src/admin.ts';
import { raiseNotices } from '../src/notices/notice-log.sql.ts';
import { type CheckpointLabel, deliveryCheckpoints } from '../src/runtime/checkpoint.ts';
import { mortal } from './mortal-node.ts';
import { xEvent } from './stream-events.ts';
import { startEndpoint } from './web-endpoint.ts';
import { withWebhookWorld } from './webhook-world.ts';

const within = { timeoutMs: 100_000 };
const windowSeconds = 60;

/** The numbers of the posts that a Slack message shows, and how many more it counts. */
function readMessage(body: string): { shown: number[]; more: number } {
  const shown = [...body.matchAll(/"text":"post (\d+)"/g)].map(([, number]) => Number(number));
  return { shown, more: Number(/and ([\d,]+) more/.exec(body)?.[1]?.replaceAll(',', '') ?? 0) };
}

const posts = (first: number, count: number) => Array.from({ length: count }, (_, n) => `post ${first + n}`);

test('a chat gets one message per window, with all matches since the last one, shown or counted', () =>
  withWebhookWorld(async (world) => {
    await using chat = await startEndpoint();
    await using program = await startEndpoint();
    await world.createWebhook(chat.url, { format: 'slack', windowSeconds });
    await world.createWebhook(program.url);
    await using _sender = world.startSender();
    const messages = () => chat.received.map(({ body }) => readMessage(body));
    /** Waits until webhooks without a window have it: by then the chat was checked as well. */
    const storeAndWait = async (texts: string[]) => {
      await world.storeMatches(texts);
      await eventually(() => expect(program.received.at(-1)?.body).toContain(`"${texts.at(-1)}"`), within);
    };
    await storeAndWait(posts(0, 1));
    await eventually(() => expect(messages()).toEqual([{ shown: [0], more: 0 }]), within);
    await storeAndWait(posts(1, 1));
    await storeAndWait(posts(2, 2));
    expect(messages()).toHaveLength(1);
    await world.clock.pass(windowSeconds * 1_000);
    await eventually(() => expect(messages()).toHaveLength(2), within);
    await storeAndWait(posts(4, 137));
    expect(messages()).toHaveLength(2);
    await world.clock.pass(windowSeconds * 1_000);
    await eventually(() => expect(messages()).toHaveLength(3), within);
    expect(messages().slice(1)).toEqual([
      { shown: [1, 2, 3], more: 0 },
      { shown: [4, 5, 6, 7, 8, 9, 10, 11, 12, 13], more: 127 },
    ]);
    expect(chat.received.filter(({ headers }) => 'webhook-signature' in headers)).toEqual([]);
  }));

test('the matches of a chat are in one message each, in order, if its senders are killed at every point', () =>
  withWebhookWorld(async (world, database) => {
    const receivedMs: number[] = [];
    await using chat = await startEndpoint(() => {
      receivedMs.push(Date.now() + world.clock.offsetMs);
      return 200;
    });
    await world.createWebhook(chat.url, { format: 'slack', windowSeconds });
    let stored = 0;
    const kills: CheckpointLabel[] = [];
    for (const label of [...deliveryCheckpoints, ...deliveryCheckpoints]) {
      const count = 1 + (stored % 4) * 9;
      await world.storeMatches(posts(stored, count));
      stored += count;
      const node = mortal((one) => one === label);
      {
        await using _sender = world.startSender({
          checkpoint: (one) => node.checkpoint(one),
          store: (store) => node.store(store),
        });
        kills.push(await node.died);
        // Matches that arrive before the next attempt are not in the message that was being sent.
        await world.storeMatches(posts(stored, 1));
        stored += 1;
      }
      await database.run(`update webhooks set lease_until = '-infinity'`);
      await world.clock.pass((windowSeconds * 1_000) / 2);
      await world.clock.pass((windowSeconds * 1_000) / 2);
    }
    await using _sender = world.startSender();
    await eventually(async () => {
      await world.clock.pass(1_000);
      const behind = 'select id from webhooks where position < (select last_position from match_log)';
      expect(await database.many(behind)).toEqual([]);
    }, within);
    expect(kills).toEqual([...deliveryCheckpoints, ...deliveryCheckpoints]);
    const bodies = chat.received.map(({ body }) => body);
    // A message whose sender was killed before it could record the result arrived twice, with the same bytes.
    const firsts = bodies.map((body) => bodies.indexOf(body));
    const messages = [...new Set(bodies)];
    expect(bodies.length).toBeGreaterThan(messages.length);
    let next = 0;
    for (const { shown, more } of messages.map(readMessage)) {
      expect(shown).toEqual(Array.from({ length: Math.min(10, shown.length + more) }, (_, n) => next + n));
      next += shown.length + more;
    }
    expect(next).toBe(stored);
    firsts.forEach((first, index) => {
      const since = (receivedMs[index] ?? 0) - (receivedMs[index - 1] ?? Number.NEGATIVE_INFINITY);
      if (first === index) expect(since).toBeGreaterThanOrEqual(windowSeconds * 1_000);
    });
  }));

test('a message that a chat refuses is split until the refused match is found', () =>
  withWebhookWorld(async (world, database) => {
    const accepted: string[] = [];
    await using chat = await startEndpoint(({ body }) => {
      if (body.includes('"post 5"')) return 400;
      accepted.push(body);
      return 200;
    });
    const { id } = await world.createWebhook(chat.url, { format: 'slack', windowSeconds: 30 });
    await world.storeMatches(posts(0, 120));
    await using _sender = world.startSender();
    await eventually(async () => {
      await world.clock.pass(30_000);
      const behind = 'select id from webhooks where position < (select last_position from match_log)';
      expect(await database.many(behind)).toEqual([]);
    }, within);
    expect(await world.deliveries(id, 'parked')).toHaveLength(1);
    const messages = accepted.map(readMessage);
    expect(messages.reduce((sum, { shown, more }) => sum + shown.length + more, 0)).toBe(119);
    expect(messages.flatMap(({ shown }) => shown).slice(0, 7)).toEqual([0, 1, 2, 3, 4, 6, 7]);
  }));

test('a forgotten item is in no later message, and a later message reports its removal', () =>
  withWebhookWorld(async (world, database, databaseUrl) => {
    let status = 500;
    await using chat = await startEndpoint(() => status);
    await world.createWebhook(chat.url, { format: 'slack', windowSeconds: 30 });
    await world.storeMatches(posts(0, 3));
    await using _sender = world.startSender();
    await eventually(() => expect(chat.received[0]?.body).toContain('"post 1"'), within);
    const asOwner = new URL(databaseUrl);
    asOwner.searchParams.set('options', '-c role=earshot_owner');
    await using admin = await openAdmin(asOwner.href);
    await admin.forget({ post: xEvent(1).platformPostId });
    const stored = await database.many<{ body: string }>('select body from webhook_batches');
    expect(stored.map(({ body }) => /post 1"|post 2"/.exec(body)?.[0])).toEqual(['post 2"']);
    const before = chat.received.length;
    status = 200;
    const later = () => chat.received.slice(before).map(({ body }) => body);
    await eventually(async () => {
      await world.clock.pass(30_000);
      expect(later().join()).toContain('1 match was removed');
    }, within);
    expect(later().map((body) => readMessage(body).shown)).toEqual([[0, 2], []]);
  }));

test('a notice does not wait for the window of the matches, nor they for it', () =>
  withWebhookWorld(async (world, database) => {
    await using chat = await startEndpoint();
    const events = ['matches', 'notices'] as const;
    await world.createWebhook(chat.url, { format: 'teams', windowSeconds: 86_400, events });
    await using _sender = world.startSender();
    await world.storeMatches(['post 0']);
    await eventually(() => expect(chat.received).toHaveLength(1), within);
    const subject = { kind: 'rule', id: 'rule_1', name: 'Launches' } as const;
    await raiseNotices(database, ['acc_1'], { type: 'rule.expired', subject, data: { expires_at: null } });
    await eventually(() => expect(chat.received).toHaveLength(2), within);
    expect(chat.received[1]?.body).toMatch(/rule\.expired.*Launches/);
  }));

test('a batch of CloudEvents is verified by the SDK, with every match once and in order', () =>
  withWebhookWorld(async (world) => {
    await using endpoint = await startEndpoint();
    const { id, secret } = await world.createWebhook(endpoint.url, { format: 'cloudevents' });
    await world.storeMatches(posts(0, 30));
    await using _sender = world.startSender();
    const events = async () =>
      (
        await Promise.all(
          endpoint.received.map(async ({ headers, body }) => {
            expect(headers['content-type']).toBe('application/cloudevents-batch+json');
            return Object((await verifyWebhook({ secret, headers, body })).message);
          }),
        )
      ).flat();
    await eventually(async () => expect(await events()).toHaveLength(30), within);
    const texts = (await events()).map(({ data }) => data.payload.text);
    expect(texts).toEqual(posts(0, 30));
    expect((await events())[0]).toMatchObject({ type: 'earshot.match', source: `/webhooks/${id}` });
    expect(await world.webhooks.test(id)).toMatchObject({ outcome: 'delivered' });
    expect((await events()).at(-1)).toMatchObject({ type: 'earshot.test' });
    await expect(
      verifyWebhook({ secret, headers: endpoint.received[0]?.headers ?? {}, body: '[]' }),
    ).rejects.toThrow('No signature fits');
  }));

describe('the webhook of a chat', () => {
  test('is tested with a message of its format, and disabled when the chat no longer knows it', () =>
    withWebhookWorld(async (world) => {
      let status = 200;
      await using chat = await startEndpoint(() => status);
      const { id } = await world.createWebhook(chat.url, { format: 'slack', windowSeconds });
      expect(await world.webhooks.test(id)).toMatchObject({ outcome: 'delivered' });
      expect(JSON.parse(chat.received[0]?.body ?? '')).toMatchObject({ text: 'Earshot: a test message' });
      status = 404;
      expect(await world.webhooks.test(id)).toMatchObject({ outcome: 'gone', status: 404 });
      await world.storeMatches(['post 0']);
      await using _sender = world.startSender();
      await eventually(async () => {
        const [listed] = await world.webhooks.list('acc_1');
        expect(listed).toMatchObject({ state: 'disabled', reason: 'gone' });
      }, within);
      expect(chat.received).toHaveLength(3);
    }));

  test('shows its address nowhere, and keeps it if it is updated with its masked form', () =>
    withWebhookWorld(async (world, database) => {
      const url = 'https://hooks.slack.com/services/T0/B0/topsecret';
      const shown = 'https://hooks.slack.com/…';
      const { id } = await world.createWebhook(url, { format: 'slack', windowSeconds });
      const update = (changes: Parameters<typeof world.webhooks.update>[2]) =>
        world.webhooks.update(world.change('UpdateWebhook'), id, changes);
      expect((await world.webhooks.list('acc_1'))[0]).toMatchObject({
        url: shown,
        format: 'slack',
        window_seconds: 60,
      });
      expect(await update({ url: shown, window_seconds: 120 })).toMatchObject({
        url: shown,
        window_seconds: 120,
      });
      expect(await database.many('select url from webhooks')).toEqual([{ url }]);
      await expect(update({ format: 'standard' })).rejects.toThrow('not shown again');
      await expect(update({ format: 'cloudevents', url: shown })).rejects.toThrow('not shown again');
      expect(await update({ format: 'discord' })).toMatchObject({
        url: shown,
        format: 'discord',
        window_seconds: 120,
      });
      const stored = await database.many<{ text: string }>(
        `select row_to_json(audit)::text as text from audit union all select row_to_json(idempotency_keys)::text from idempotency_keys`,
      );
      expect(stored.length).toBeGreaterThanOrEqual(3);
      expect(stored.filter(({ text }) => text.includes('topsecret'))).toEqual([]);
      await expect(update({ window_seconds: 29 })).rejects.toThrow('30 or more');
      await expect(update({ max_matches: 1 })).rejects.toThrow('only with');
      expect(await update({ format: 'standard', url })).toMatchObject({ url, window_seconds: 1 });
      expect(await update({ format: 'slack' })).toMatchObject({ window_seconds: 60 });
    }));
});
