import { afterEach, describe, expect, test, vi } from 'vitest';
import { type BellName, createBellListener } from '../engines/bells.ts';
import { createParsedRules } from '../language/explain-match.ts';
import { createFollowing, type Follower, LogRestored } from './follow-matches.ts';
import type { MatchQuery } from './match-days.sql.ts';
import type { StoredMatch } from './match-reader.sql.ts';
import { openMatchTail } from './match-tail.ts';
import type { MatchHeader, TailReader } from './tail-reader.sql.ts';

const signal = new AbortController().signal;
const parsedRules = createParsedRules();

function stored(position: number, ruleId: string, text: string | null = null): StoredMatch {
  return {
    position,
    ruleId,
    ruleVersion: 1,
    ruleValue: '',
    createdAt: new Date(position),
    via: 'stream',
    platform: 'x',
    platformPostId: String(position),
    eventKey: String(position),
    payload: {
      url: null,
      title: null,
      text,
      author: null,
      published_at: null,
      language: null,
      raw: {},
    },
  };
}

/** Where positions continue after the log went back. */
const jumpedTo = 2 ** 40;

/** A match log in memory that counts queries, and can delay or fail a read of its end. */
function createLog() {
  let log: { accountId: string; match: StoredMatch }[] = [];
  let last = 0;
  const calls = { after: 0, load: 0, read: 0, atOnce: 0, atOnceMax: 0 };
  const hooks: { beforeLoad?: () => Promise<void>; loadMax?: number } = {};
  const tailReader: TailReader = {
    lastPosition: async () => last,
    restoredTo: async () => null,
    async after(position, limit) {
      calls.after += 1;
      const page = log.filter(({ match }) => match.position > position).slice(0, limit);
      return page.map(({ accountId, match }): MatchHeader => {
        const { position: at, ruleId, ruleVersion, platform, createdAt, via } = match;
        const event = { eventKey: String(at), eventDay: '2026-11-14' };
        return {
          position: at,
          accountId,
          ruleId,
          ruleVersion,
          platform,
          createdAt,
          via,
          removed: null,
          ...event,
        };
      });
    },
    async load(headers) {
      calls.load += 1;
      const taken = Math.min(headers.length, hooks.loadMax ?? headers.length);
      const positions = new Set(headers.slice(0, taken).map(({ position }) => position));
      const matches = log.map(({ match }) => match).filter(({ position }) => positions.has(position));
      await hooks.beforeLoad?.();
      return { matches, taken };
    },
  };
  const reader = {
    async read({ accountId, ruleIds, from, limit }: MatchQuery) {
      calls.read += 1;
      calls.atOnce += 1;
      calls.atOnceMax = Math.max(calls.atOnceMax, calls.atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      calls.atOnce -= 1;
      const own = log.filter((one) => one.accountId === accountId).map(({ match }) => match);
      const wanted = own.filter((match) => ruleIds?.includes(match.ruleId) ?? true);
      const left = wanted.filter(({ position }) => position > (from ?? 0));
      return { matches: left.slice(0, limit), removals: [], more: left.length > limit };
    },
  };
  const write = (accountId: string, ruleId: string, text?: string) =>
    log.push({ accountId, match: stored(++last, ruleId, text) });
  /** Loses everything after the position, and stores the next match far behind it. */
  const goBack = (to: number) => {
    const through = last;
    log = log.filter(({ match }) => match.position <= to);
    last = jumpedTo;
    tailReader.restoredTo = async (position) => (position > to && position <= through ? to : null);
  };
  return { tailReader, reader, write, goBack, calls, hooks };
}

const telemetry = { matchLogRestored: () => undefined, matchFollowed: () => undefined };

async function start(bounds: { matchesMax?: number; nowMs?: () => number } = {}, log = createLog()) {
  const bell = createBellListener(() => undefined);
  const bells = { ring: () => bell.rang(), listen: (_name: BellName) => bell };
  const tail = await openMatchTail({ reader: log.tailReader, parsedRules, bells, telemetry, ...bounds });
  const following = createFollowing({ tail, reader: log.reader, parsedRules });
  const stop = new AbortController();
  const follow = (accountId: string, position: number, ruleId: string | null = null) =>
    following.follow(ofRule(accountId, ruleId), position);
  /** Follows like a client that was notified that the log went back, and where to continue. */
  const followAgain = (accountId: string, position: number) =>
    following.follow(ofRule(accountId), position, jumpedTo);
  const page = (accountId: string) =>
    following.page({
      ...ofRule(accountId),
      since: null,
      until: null,
      order: 'oldest',
      from: null,
      limit: 10,
    });
  return {
    ...log,
    tail,
    follow,
    followAgain,
    page,
    ring: bells.ring,
    work: () => tail.worker.run(stop.signal),
    run: () => {
      const running = tail.worker.run(stop.signal);
      return {
        async [Symbol.asyncDispose]() {
          stop.abort();
          bells.ring();
          await running;
        },
      };
    },
  };
}

const ofRule = (accountId: string, ruleId: string | null = null) => ({ accountId, ruleId, platform: null });

const take = async (follower: Follower, limit = 100) =>
  (await follower.next({ limit, waitMs: 10_000, signal })).map(({ position }) => position);

test('a commit costs one read of the log, and each match is made once, however many readers wait', async () => {
  const { follow, write, ring, run, calls } = await start();
  const followers = Array.from({ length: 200 }, () => follow('acc_1', 0));
  await using _running = run();
  const waiting = followers.map((follower) => follower.next({ limit: 10, waitMs: 10_000, signal }));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const before = { ...calls };
  write('acc_1', 'rule_1');
  ring();
  const got = await Promise.all(waiting);
  expect(new Set(got.map(([one]) => one && 'match' in one && one.match)).size).toBe(1);
  expect(got.every((page) => page.length === 1)).toBe(true);
  expect({ read: calls.read - before.read, load: calls.load - before.load }).toEqual({ read: 0, load: 1 });
  expect(calls.after - before.after).toBeLessThanOrEqual(2);
});

test('nothing is loaded for accounts and rules without waiting readers', async () => {
  const { follow, write, ring, run, calls } = await start();
  using follower = follow('acc_1', 0, 'rule_2');
  await using _running = run();
  const waiting = take(follower);
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (const [account, rule] of [
    ['acc_2', 'rule_9'],
    ['acc_1', 'rule_1'],
  ] as const)
    write(account, rule);
  ring();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(calls.load).toBe(0);
  write('acc_1', 'rule_2');
  ring();
  expect(await waiting).toEqual([3]);
});

test('a reader that joins while the tail loads a page misses nothing of it', async () => {
  const { follow, write, ring, run, calls, hooks } = await start();
  using first = follow('acc_1', 0);
  const loading = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  hooks.beforeLoad = () => {
    loading.resolve();
    return goOn.promise;
  };
  write('acc_1', 'rule_1');
  write('acc_2', 'rule_2');
  await using _running = run();
  await loading.promise;
  // The tail has decided what to load, and nothing of it is for this account.
  using late = follow('acc_2', 0);
  const taking = take(late);
  goOn.resolve();
  expect(await taking).toEqual([2]);
  expect(await take(first)).toEqual([1]);
  delete hooks.beforeLoad;
  write('acc_2', 'rule_2');
  ring();
  expect(await take(late)).toEqual([3]);
  expect(calls.read).toBeGreaterThan(0);
});

test('when the tail fails between finding and loading, each reader reads the log', async () => {
  const { follow, write, ring, run, work, hooks } = await start();
  using follower = follow('acc_1', 0);
  const waiting = take(follower);
  hooks.beforeLoad = () => Promise.reject(new Error('the database is down'));
  write('acc_1', 'rule_1');
  await expect(work()).rejects.toThrow('the database is down');
  expect(await waiting).toEqual([1]);
  delete hooks.beforeLoad;
  await using _running = run();
  write('acc_1', 'rule_1');
  ring();
  expect(await take(follower)).toEqual([2]);
});

test('a reader that is further behind than the tail reads the log, and then follows without a gap', async () => {
  const { follow, write, ring, run, calls } = await start({ matchesMax: 5 });
  using slow = follow('acc_1', 0);
  using quick = follow('acc_1', 0);
  await using _running = run();
  const seen: number[] = [];
  for (let n = 0; n < 30; n++) {
    write('acc_1', 'rule_1');
    ring();
    seen.push(...(await take(quick)));
  }
  expect(seen).toEqual(Array.from({ length: 30 }, (_, n) => n + 1));
  const readBefore = calls.read;
  const late: number[] = [];
  while (late.length < 30) late.push(...(await take(slow, 7)));
  expect(late).toEqual(seen);
  expect(calls.read).toBeGreaterThan(readBefore);
});

test('large matches are loaded and taken a few at a time, and all of them arrive', async () => {
  const { follow, write, ring, run, calls, hooks } = await start();
  using follower = follow('acc_1', 0);
  using other = follow('acc_2', 0);
  hooks.loadMax = 3;
  for (let n = 0; n < 5; n++) write('acc_1', 'rule_1', 'x'.repeat(400_000));
  write('acc_3', 'rule_3');
  await using _running = run();
  ring();
  const pages: number[][] = [];
  while (pages.flat().length < 5) pages.push(await take(follower));
  expect(pages.flat()).toEqual([1, 2, 3, 4, 5]);
  expect(Math.max(...pages.map((page) => page.length))).toBe(2);
  expect(calls).toMatchObject({ load: 2, read: 0 });
  write('acc_2', 'rule_2');
  ring();
  expect(await take(other)).toEqual([7]);
});

test('thousands of readers that reconnect at once read a few at a time', async () => {
  const log = createLog();
  const accounts = Array.from({ length: 10 }, (_, index) => `acc_${index}`);
  for (const account of accounts) log.write(account, 'rule_1');
  const { follow, calls } = await start({}, log);
  const followers = accounts.flatMap((account) => Array.from({ length: 30 }, () => follow(account, 0)));
  const pages = await Promise.all(followers.map((follower) => take(follower)));
  expect(pages.every((page) => page.length === 1)).toBe(true);
  expect(calls.atOnceMax).toBe(6);
});

test('an account that requests many pages at once queues behind its own requests, and delays no other account', async () => {
  const log = createLog();
  log.write('acc_busy', 'rule_1');
  log.write('acc_other', 'rule_2');
  const { follow, page, calls } = await start({}, log);
  const order: string[] = [];
  const ended = (account: string) => () => void order.push(account);
  const behind = () => take(follow('acc_busy', 0)).then(ended('acc_busy'));
  const listed = () => page('acc_busy').then(ended('acc_busy'));
  const busy = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? listed() : behind()));
  const others = [page('acc_other').then(ended('acc_other')), take(follow('acc_other', 0))];
  await Promise.all([...busy, ...others]);
  expect(order.indexOf('acc_other')).toBeLessThanOrEqual(1);
  expect(calls.atOnceMax).toBe(2);
});

test('nothing is collected for a reader that left and has not returned', async () => {
  let nowMs = 0;
  const { follow, write, ring, run, calls } = await start({ nowMs: () => nowMs });
  const follower = follow('acc_1', 0);
  await using _running = run();
  follower[Symbol.dispose]();
  nowMs += 3_001;
  write('acc_1', 'rule_1');
  ring();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(calls).toMatchObject({ after: expect.any(Number), load: 0, read: 0 });
});

test('a page that begins behind a lost position is not returned: its follower was not notified', async () => {
  const log = createLog();
  const far = 2 ** 40;
  const reader = { read: async () => ({ matches: [stored(far, 'rule_1')], removals: [], more: false }) };
  const restoredTo = async (position: number) => (position > 5 ? 5 : null);
  const tailReader = { ...log.tailReader, lastPosition: async () => 10, restoredTo };
  const { follow, page } = await start({}, { ...log, tailReader, reader });
  await expect(take(follow('acc_1', 7))).rejects.toThrow(LogRestored);
  expect(await take(follow('acc_1', 5))).toEqual([far]);
  expect((await page('acc_1')).entries).toHaveLength(1);
});

describe('a reader that lingers for 200 ms', () => {
  const options = { limit: 100, waitMs: 10_000, lingerMs: 200, signal };
  afterEach(() => void vi.useRealTimers());

  /** A tail with one reader, on a clock that only `pass` moves. */
  async function startOnClock() {
    vi.useFakeTimers();
    const started = await start();
    const { ring, write } = started;
    const follower = started.follow('acc_1', 0);
    const running = started.run();
    const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
    await pass(1);
    return {
      follower,
      pass,
      ...started,
      store() {
        write('acc_1', 'rule_1');
        ring();
      },
      [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
    };
  }

  test('polls at most 300 times a minute, however many matches arrive', async () => {
    await using world = await startOnClock();
    const { follower, pass } = world;
    let polls = 0;
    const got: number[] = [];
    const stop = new AbortController();
    const polling = (async () => {
      while (!stop.signal.aborted) {
        const page = await follower.next({ ...options, signal: stop.signal });
        polls += 1;
        got.push(...page.map(({ position }) => position));
      }
    })();
    // 250 matches a second, for 2 s.
    for (let n = 0; n < 500; n++) {
      world.store();
      await pass(4);
    }
    stop.abort();
    await polling;
    expect(got).toEqual(Array.from({ length: got.length }, (_, n) => n + 1));
    expect(got.length).toBeGreaterThan(400);
    expect(polls).toBeLessThanOrEqual(11);
  });

  test('gets a match at once if it has already waited for longer', async () => {
    await using world = await startOnClock();
    const taking = world.follower.next(options);
    await world.pass(300);
    const before = performance.now();
    world.store();
    await world.pass(1);
    expect(await taking).toHaveLength(1);
    expect(performance.now() - before).toBeLessThanOrEqual(1);
  });

  test('gets a full page at once, and does not wait longer than it may', async () => {
    await using world = await startOnClock();
    const begunAt = performance.now();
    const full = world.follower.next({ ...options, limit: 2 });
    world.store();
    world.store();
    await world.pass(1);
    expect(await full).toHaveLength(2);
    expect(performance.now() - begunAt).toBeLessThanOrEqual(1);
    const short = world.follower.next({ ...options, waitMs: 50 });
    world.store();
    await world.pass(60);
    expect(await short).toHaveLength(1);
  });
});

describe('a reader that was notified that the log went back', () => {
  /** The node has 1 to 3 in memory, of which 2 and 3 are lost; a new match is behind them. */
  async function startWithLost() {
    const started = await start();
    const waiting = started.follow('acc_1', 0);
    for (const _ of [1, 2, 3]) started.write('acc_1', 'rule_1');
    const running = started.run();
    expect(await take(waiting)).toEqual([1, 2, 3]);
    started.goBack(1);
    started.write('acc_1', 'rule_1');
    return { ...started, waiting, [Symbol.asyncDispose]: running[Symbol.asyncDispose] };
  }

  test('gets nothing that was lost from a node that has not noticed', async () => {
    await using started = await startWithLost();
    expect(await take(started.followAgain('acc_1', 1))).toEqual([jumpedTo + 1]);
  });

  test('gets nothing that was lost from a node that has noticed', async () => {
    await using started = await startWithLost();
    const { followAgain, waiting, ring, tail } = started;
    ring();
    await expect(take(waiting)).rejects.toThrow(LogRestored);
    expect(tail.position()).toBe(jumpedTo + 1);
    expect(await take(followAgain('acc_1', 1))).toEqual([jumpedTo + 1]);
  });
});
