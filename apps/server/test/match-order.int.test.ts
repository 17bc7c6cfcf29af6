import { eventually, startTestNats, type Template } from '@earshot/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createBells } from '../src/engines/bells.ts';
import type { Database } from '../src/engines/database.ts';
import { readInstallation } from '../src/engines/installation.ts';
import { connectNats, type Nats } from '../src/engines/nats.ts';
import { createEventConsumer } from '../src/event-log/event-consumer.ts';
import { createEventLog, type LogEvent } from '../src/event-log/event-log.ts';
import { createParsedRules } from '../src/language/explain-match.ts';
import { createMatchStore, type MatchStore } from '../src/matching/match-store.sql.ts';
import { createMatchWorker } from '../src/matching/match-worker.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { createMatchReader, type MatchReader } from '../src/readers/match-reader.sql.ts';
import { supervise } from '../src/runtime/supervisor.ts';
import { xEvent } from './stream-events.ts';
import {
  createMigratedTemplate,
  listToday,
  makeEventsStream,
  openTestDatabase,
  seedRules,
  silentLog,
  silentTelemetry,
} from './support.ts';

const workers = 4;
const rulesPerEvent = 10;
const matchesWanted = 50_000;
const matchesOfControl = 5_000;

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

function event(number: number, tags: readonly string[]): LogEvent {
  return xEvent(number, { rules: tags.map((tag, index) => ({ upstreamRuleId: String(index + 1), tag })) });
}

async function publish(nats: Nats, tags: readonly string[], total: number): Promise<void> {
  const log = createEventLog(nats);
  for (let at = 0; at < total; at += 250) {
    const batch = Array.from({ length: Math.min(250, total - at) }, (_, index) => event(at + index, tags));
    await Promise.all(batch.map((one) => log.append(one, null)));
  }
}

/** Follows from the start, page by page without pauses, until it is informed that everything is written. */
async function follow(
  reader: MatchReader,
  isComplete: () => boolean,
  passed: (position: number) => void = () => undefined,
): Promise<string[]> {
  const seen: string[] = [];
  let from: number | null = null;
  for (;;) {
    const complete = isComplete();
    const { matches: page } = await reader.read({
      accountId: 'acc_1',
      ruleIds: null,
      platform: null,
      since: null,
      until: null,
      order: 'oldest',
      from,
      limit: 100,
    });
    for (const match of page) seen.push(`${match.ruleId} ${match.platformPostId}`);
    from = page.at(-1)?.position ?? from;
    if (from !== null) passed(from);
    if (page.length === 0 && complete) return seen;
  }
}

async function writtenMatches(database: Database): Promise<number> {
  return (await database.one<{ count: number }>('select count(*) from matches'))?.count ?? 0;
}

/** How often a match has an earlier time than the one before it. */
async function countEarlierTimes(database: Database): Promise<number> {
  const row = await database.one<{ count: number }>(
    `select count(*) from (
       select created_at < lag(created_at) over (order by position) as backwards from matches
     ) as steps where backwards`,
  );
  return row?.count ?? 0;
}

interface Attempt {
  readonly matches: number;
  readonly makeStore: (database: Database) => Promise<MatchStore>;
  /** Called with the follower's position. */
  readonly passed?: (position: number) => void;
}

/** Four workers write while one reader follows; returns what it saw and what a reader sees afterwards. */
async function run({ matches, makeStore, passed }: Attempt) {
  await using server = await startTestNats();
  await using nats = await connectNats(server.url, 'test');
  await using clone = await template.clone();
  await using database = openTestDatabase(clone.url, 12);
  await makeEventsStream(nats, { replicas: 1, bytesMax: 1024 ** 3 });
  const { tags } = await seedRules(database, rulesPerEvent);
  const store = await makeStore(withSlowCommits(database));
  const installation = (await readInstallation(database)).id;
  const options = {
    installation,
    store,
    parsedRules: createParsedRules(),
    bells: createBells(nats),
    telemetry: silentTelemetry(),
  };
  await using _supervisor = supervise(
    Array.from({ length: workers }, (_, index) =>
      createMatchWorker({ ...options, name: `match:${index}`, consumer: createEventConsumer(nats) }),
    ),
    { log: silentLog, metrics: createMetrics(), isOutage: () => false },
  );
  const reader = createMatchReader(database);
  let complete = false;
  const following = follow(reader, () => complete, passed);
  await publish(nats, tags, matches / rulesPerEvent);
  await eventually(async () => expect(await writtenMatches(database)).toBe(matches), {
    timeoutMs: 90_000,
  });
  complete = true;
  return {
    seen: await following,
    afterwards: await follow(reader, () => true),
    backwards: await countEarlierTimes(database),
  };
}

/** Every commit waits a moment, so that later writers often end earlier. */
function withSlowCommits(database: Database): Database {
  return {
    ...database,
    transaction: (work) =>
      database.transaction(async (sql) => {
        const result = await work(sql);
        await sql.run('select pg_sleep(random() * 0.05)');
        return result;
      }),
  };
}

/** The naive way: a sequence, without the lock. */
async function naiveStore(database: Database, order: Overtaking): Promise<MatchStore> {
  await database.run('create sequence naive_position');
  await listToday(database);
  const real = createMatchStore(database);
  return {
    ...real,
    write: (posts, matches) =>
      database.transaction(async (sql) => {
        const writer = order.arrive();
        await writer.mayWrite;
        await sql.run(
          `insert into posts (platform, event_key, event_day, platform_post_id, payload)
           select * from unnest($1::text[], $2::text[], $3::date[], $4::text[], $5::text[]) on conflict do nothing`,
          [
            posts.map((post) => post.platform),
            posts.map((post) => post.key),
            posts.map((post) => post.day),
            posts.map((post) => post.platformPostId),
            posts.map((post) => JSON.stringify(post.payload)),
          ],
        );
        const rows = await sql.many<{ position: number }>(
          `insert into matches (position, account_id, rule_id, rule_version, platform, event_key, event_day)
           select nextval('naive_position'), * from
             unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::text[], $6::date[])
           on conflict do nothing returning position`,
          [
            matches.map((match) => match.accountId),
            matches.map((match) => match.ruleId),
            matches.map((match) => match.ruleVersion),
            matches.map((match) => match.platform),
            matches.map((match) => match.eventKey),
            matches.map((match) => match.eventDay),
          ],
        );
        await writer.mayCommit(rows.map(({ position }) => position));
        return { counts: {}, traced: [] };
      }),
  };
}

/**
 * Makes two writers overtake each other, which only the lock prevents reliably. The first to begin writes after the
 * second, so its time is earlier and its positions are later. The second commits when the follower is past its positions.
 */
interface Overtaking {
  arrive(): {
    readonly mayWrite: Promise<unknown>;
    mayCommit(positions: readonly number[]): Promise<unknown>;
  };
  passed(position: number): void;
  /** Positions that became visible behind the follower. */
  readonly overtaken: number[];
}

function createOvertaking(): Overtaking {
  const secondWrote = Promise.withResolvers<void>();
  const followerPassed = Promise.withResolvers<void>();
  const overtaken: number[] = [];
  let writers = 0;
  return {
    arrive() {
      const number = ++writers;
      return {
        mayWrite: number === 1 ? secondWrote.promise : Promise.resolve(),
        async mayCommit(positions) {
          if (number !== 2) return;
          overtaken.push(...positions);
          secondWrote.resolve();
          await followerPassed.promise;
        },
      };
    },
    passed(position) {
      if (overtaken.length > 0 && position > Math.max(...overtaken)) followerPassed.resolve();
    },
    overtaken,
  };
}

describe('a follower while four workers write', () => {
  test('sees each of 50,000 matches exactly once, in the final order, and in the order of their times', async () => {
    const { seen, afterwards, backwards } = await run({
      matches: matchesWanted,
      makeStore: async (database) => createMatchStore(database),
    });
    expect(new Set(seen).size).toBe(matchesWanted);
    expect(seen).toHaveLength(matchesWanted);
    expect(seen).toEqual(afterwards);
    expect(backwards).toBe(0);
  });

  test('control: with plain sequence numbers it misses overtaken matches', async () => {
    const order = createOvertaking();
    const { seen, afterwards, backwards } = await run({
      matches: matchesOfControl,
      makeStore: (database) => naiveStore(database, order),
      passed: (position) => order.passed(position),
    });
    expect(order.overtaken.length).toBeGreaterThan(0);
    expect(afterwards).toHaveLength(matchesOfControl);
    expect(seen.length).toBeLessThanOrEqual(matchesOfControl - order.overtaken.length);
    expect(backwards).toBeGreaterThan(0);
  });
});
