import { defaultXToken } from '@earshot/sandbox';
import type { Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recoverGap } from '../src/coverage/recover-gap.ts';
import { type RepairGapOptions, repairGap } from '../src/coverage/repair-gap.ts';
import { createRepairStore } from '../src/coverage/repair-store.sql.ts';
import { createLeaseStore, LeaseLost } from '../src/engines/leases.ts';
import type { LogEvent } from '../src/event-log/event-log.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { createTelemetry } from '../src/observability/telemetry.ts';
import type { Recovery } from '../src/upstream/platform.ts';
import { UpstreamUnavailable } from '../src/upstream/upstream-rules.ts';
import { StreamEnded } from '../src/upstream/upstream-stream.ts';
import { createXSearch } from '../src/upstream/x/search.ts';
import { createXRecovery } from '../src/upstream/x/stream.ts';
import { createMigratedTemplate, silentLog, silentTelemetry } from './support.ts';
import { beginRule, openUpstreamWorld, type UpstreamWorld } from './upstream-world.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

const never = new AbortController().signal;

/** A source that was disconnected from ten to five minutes ago, with a rule for each query. */
async function openGap(values: readonly string[], plan: 'payg' | 'enterprise' = 'payg') {
  const xApps = [{ token: defaultXToken, plan }];
  const world = await openUpstreamWorld(template, { speed: 100, xApps });
  for (const value of values) await beginRule(world.rules, { x: value });
  await world.database.run(`update slots set state = 'registered', registered_at = now()`);
  await world.database.run(`update slot_services set from_at = now() - interval '1 day'`);
  await world.database.run(
    `insert into coverage (source_id, from_at, proven_until, gap_from, gap_because)
     values ('x:main', now() - interval '5 minutes', now(), now() - interval '10 minutes', 'dropped')`,
  );
  return world;
}

/** Posts that were published in the middle of the gap. */
async function missed(
  world: UpstreamWorld,
  posts: ReadonlyArray<Record<string, unknown>>,
): Promise<string[]> {
  const created_at = new Date(Date.now() - 7 * 60_000).toISOString();
  const answer = await fetch(`${world.sandboxUrl}/sandbox/x/posts`, {
    method: 'POST',
    body: JSON.stringify({ posts: posts.map((post) => ({ created_at, ...post })) }),
  });
  const { posts: made } = (await answer.json()) as { posts: Array<{ id: string }> };
  return made.map(({ id }) => id);
}

function repairer(world: UpstreamWorld, more: Partial<RepairGapOptions> = {}) {
  const logged: LogEvent[] = [];
  const client = world.client('x');
  const store = createRepairStore(world.database);
  const leases = createLeaseStore(world.database);
  const options: RepairGapOptions = {
    sourceId: 'x:main',
    platform: 'x',
    installation: world.installation,
    search: createXSearch(client),
    store,
    eventLog: { append: async (event) => void logged.push(event) },
    telemetry: silentTelemetry(),
    postsPerDay: 10_000,
    pace: 1_000,
    nowMs: Date.now,
    ...more,
  };
  return {
    logged,
    client,
    store,
    /** Takes the lease and repairs open gaps, as the worker does. */
    async run(): Promise<boolean[]> {
      await world.database.run(`update leases set expires_at = now() - interval '1 second'`);
      const lease = await leases.acquire('repair:x:main', 'node', 60_000);
      if (!lease) throw new Error('no lease');
      const done: boolean[] = [];
      for (const gap of await options.store.openGaps('x:main', 0)) {
        done.push(await repairGap(options, { gap, lease }, never));
      }
      return done;
    },
  };
}

const repairs = (world: UpstreamWorld) =>
  world.database.many<{ value: string; state: string; because: string | null; matches: number }>(
    `select slots.value, gap_repairs.state, because, matches from gap_repairs join slots on slots.id = slot_id
     order by value`,
  );
const gapState = (world: UpstreamWorld) =>
  world.database.one<{ repair: string; repair_because: string | null }>(
    'select repair, repair_because from coverage',
  );
const many = (count: number) => Array.from({ length: count }, (_, n) => ({ text: `fjord ${n}` }));

describe('a gap on X', () => {
  test('is searched for every slot: each post is logged for its slot, as found by search', async () => {
    await using world = await openGap(['fjord', 'glacier']);
    const [fjord, both] = await missed(world, [
      { text: 'fjord' },
      { text: 'fjord and glacier' },
      { text: 'none' },
    ]);
    const worker = repairer(world);
    expect(await worker.run()).toEqual([true]);
    const slots = await world.database.many<{ id: string; value: string }>('select id, value from slots');
    const tag = (value: string) =>
      `earshot:${world.installation}:${slots.find((slot) => slot.value === value)?.id}`;
    const found = worker.logged.map(({ key, via, rules }) => `${key} ${via} ${rules[0]?.tag}`);
    expect(found.toSorted()).toEqual(
      [
        `${fjord} search ${tag('fjord')}`,
        `${both} search ${tag('fjord')}`,
        `${both} search ${tag('glacier')}`,
      ].toSorted(),
    );
    expect(await repairs(world)).toEqual([
      { value: 'fjord', state: 'done', because: null, matches: 2 },
      { value: 'glacier', state: 'done', because: null, matches: 1 },
    ]);
    expect(await gapState(world)).toEqual({ repair: 'repaired', repair_because: null });
    expect(await worker.run()).toEqual([]);
  });

  test('gets posts as the stream would deliver them: with their own author and no other user', async () => {
    await using world = await openGap(['fjord']);
    await missed(world, [
      { text: 'fjord one', author: { username: 'ann' } },
      { text: 'fjord two', author: { username: 'bob' } },
    ]);
    const worker = repairer(world);
    await worker.run();
    expect(worker.logged.map(({ payload }) => [payload.text, payload.author?.handle])).toEqual([
      ['fjord two', 'bob'],
      ['fjord one', 'ann'],
    ]);
    expect(worker.logged[0]?.payload.raw).toMatchObject({ includes: { users: [{ username: 'bob' }] } });
  });

  test('after a crash in the middle is repaired from the page that was not finished', async () => {
    await using world = await openGap(['fjord']);
    const ids = await missed(world, many(250));
    const store = createRepairStore(world.database);
    let pages = 0;
    const mortal = repairer(world, {
      store: {
        ...store,
        recordProgress: async (...given) => {
          // The second page is in the log, and then the process crashes.
          if (++pages === 2) throw new Error('killed');
          await store.recordProgress(...given);
        },
      },
    });
    await expect(mortal.run()).rejects.toThrow('killed');
    expect(mortal.logged).toHaveLength(200);
    const next = repairer(world);
    expect(await next.run()).toEqual([true]);
    // Not from the beginning: the first page is not requested again.
    expect(next.client.calls).toHaveLength(2);
    expect(new Set([...mortal.logged, ...next.logged].map(({ key }) => key))).toEqual(new Set(ids));
    expect(mortal.logged.length + next.logged.length).toBe(ids.length + 100);
    expect(await repairs(world)).toMatchObject([{ state: 'done', matches: 250 }]);
  });

  test('whose worker lost its lease is not marked by it', async () => {
    await using world = await openGap(['fjord']);
    const store = createRepairStore(world.database);
    const late = repairer(world, {
      store: {
        ...store,
        nextWaiting: async (gap) => {
          await world.database.run('update leases set epoch = epoch + 1');
          return await store.nextWaiting(gap);
        },
      },
    });
    await expect(late.run()).rejects.toThrow(LeaseLost);
    expect(await repairs(world)).toMatchObject([{ state: 'waiting' }]);
  });

  test('stays a gap for slots that cannot be searched, with the reason', async () => {
    const long = `fjord ${Array.from({ length: 100 }, (_, n) => `-word${n}`).join(' ')}`;
    await using world = await openGap(['fjord', 'fjord sample:10', long]);
    await missed(world, [{ text: 'fjord' }]);
    await repairer(world).run();
    expect((await repairs(world)).map(({ state, because }) => `${state} ${because}`).toSorted()).toEqual([
      'done null',
      'impossible no_search_for_sample',
      'impossible value_too_long_to_search',
    ]);
    expect(await gapState(world)).toMatchObject({ repair: 'partly' });
  });

  test('waits with a reason if the budget of the day is spent, and is continued the next day', async () => {
    await using world = await openGap(['fjord']);
    await missed(world, many(250));
    const worker = repairer(world, { postsPerDay: 120 });
    expect(await worker.run()).toEqual([false]);
    // 100, then the rest of the budget.
    expect(worker.logged).toHaveLength(120);
    expect(await repairs(world)).toMatchObject([{ state: 'waiting', because: 'budget_exhausted' }]);
    expect(await gapState(world)).toMatchObject({ repair: 'under_way' });
    await world.database.run('update repair_spending set day = day - 1');
    const nextDay = repairer(world, { postsPerDay: 1_000 });
    expect(await nextDay.run()).toEqual([true]);
    expect(await repairs(world)).toMatchObject([{ state: 'done', because: null, matches: 250 }]);
  });

  test('that is older than the search period cannot be repaired', async () => {
    await using world = await openGap(['fjord']);
    await world.database.run(`update coverage set gap_from = now() - interval '8 days'`);
    const worker = repairer(world);
    expect(await worker.run()).toEqual([true]);
    expect(worker.client.calls).toEqual([]);
    expect(await gapState(world)).toEqual({ repair: 'none', repair_because: 'too_old_to_search' });
  });

  test('starts over once if the token of its page has expired', async () => {
    await using world = await openGap(['fjord']);
    const ids = await missed(world, many(150));
    const worker = repairer(world, { postsPerDay: 100 });
    expect(await worker.run()).toEqual([false]);
    await world.database.run(`update gap_repairs set next_token = 'expired'`);
    const again = repairer(world);
    expect(await again.run()).toEqual([true]);
    expect(new Set(again.logged.map(({ key }) => key))).toEqual(new Set(ids));
    expect(await repairs(world)).toMatchObject([{ state: 'done', matches: 150 }]);
  });
});

describe('a gap of an Enterprise app', () => {
  async function recover(world: UpstreamWorld, more: Partial<Parameters<typeof recoverGap>[0]> = {}) {
    const { store, logged } = repairer(world);
    const lease = await createLeaseStore(world.database).acquire('repair:x:main', 'node', 60_000);
    const [gap] = await store.openGaps('x:main', 0);
    if (!lease || !gap) throw new Error('no lease or no gap');
    const recovery = createXRecovery(world.client('x'));
    const eventLog = { append: async (event: LogEvent) => void logged.push(event) };
    const options = {
      sourceId: 'x:main',
      platform: 'x' as const,
      recovery,
      store,
      eventLog,
      telemetry: silentTelemetry(),
      ...more,
    };
    return { logged, done: await recoverGap(options, { gap, lease }, never) };
  }
  const upstreamRule = (world: UpstreamWorld) =>
    world.client('x').call('POST', '/2/tweets/search/stream/rules', {
      body: { add: [{ value: 'fjord', tag: 'one' }] },
      signal: never,
    });

  test('is replayed by X itself, including retweets, and repaired when the replay has ended', async () => {
    await using world = await openGap(['fjord'], 'enterprise');
    await upstreamRule(world);
    const retweet = { text: 'RT @a: fjord', referenced_tweets: [{ type: 'retweeted', id: '1' }] };
    const ids = await missed(world, [...many(150), retweet]);
    const { logged } = await recover(world);
    expect(logged.map(({ key }) => key)).toEqual(ids);
    expect(logged.every(({ via, rules }) => via === undefined && rules[0]?.tag === 'one')).toBe(true);
    expect(await gapState(world)).toMatchObject({ repair: 'repaired' });
  });

  test('is repaired even if a record of the replay is too large: that one is counted', async () => {
    await using world = await openGap(['fjord'], 'enterprise');
    const post = (id: string) => JSON.stringify({ data: { id, text: 'fjord' } });
    const recovery: Pick<Recovery, 'records'> = {
      async *records() {
        yield* [post('1'), null, post('2')];
      },
    };
    const metrics = createMetrics();
    const { logged, done } = await recover(world, {
      recovery,
      telemetry: createTelemetry(silentLog, metrics),
    });
    expect(logged.map(({ key }) => key)).toEqual(['1', '2']);
    expect(done).toBe(true);
    const dropped = (await metrics.itemsDropped.get()).values.filter(({ value }) => value > 0);
    expect(dropped).toMatchObject([{ value: 1, labels: { platform: 'x', reason: 'too_large' } }]);
  });

  test('stays a gap if the replay breaks off or is refused', async () => {
    await using world = await openGap(['fjord'], 'payg');
    await upstreamRule(world);
    await expect(recover(world)).rejects.toThrow(UpstreamUnavailable);
    const breaksOff = (end: () => string): Pick<Recovery, 'records'> => ({
      async *records() {
        yield JSON.stringify({ data: { id: '1', text: 'fjord' } });
        yield end();
      },
    });
    const cut = breaksOff(() => {
      throw new StreamEnded({ kind: 'dropped' }, 'as the test requests');
    });
    const failing = breaksOff(() => JSON.stringify({ errors: [{ title: 'operational-disconnect' }] }));
    for (const recovery of [cut, failing]) {
      await world.database.run(`update leases set expires_at = now() - interval '1 second'`);
      await expect(recover(world, { recovery })).rejects.toThrow(UpstreamUnavailable);
    }
    expect(await gapState(world)).toMatchObject({ repair: null });
  });
});
