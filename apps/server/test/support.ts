import { migratedTemplate, type Template } from '@earshot/testkit';
import { pino } from 'pino';
import { type Database, openDatabase } from '../src/engines/database.ts';
import { migrate } from '../src/engines/migrate.ts';
import { isWithoutLeader, type Nats } from '../src/engines/nats.ts';
import { type EventsStreamOptions, ensureEventsStream } from '../src/event-log/events-stream.ts';
import { ensurePartitions } from '../src/matching/partitions.ts';
import type { Logger } from '../src/observability/logger.ts';
import { createMetrics } from '../src/observability/metrics.ts';
import { createTelemetry, type Telemetry } from '../src/observability/telemetry.ts';
import { keepTrying } from '../src/runtime/backoff.ts';
import { withClock } from './database-clock.ts';

export const silentLog: Logger = pino({ level: 'silent' });

export function silentTelemetry(): Telemetry {
  return createTelemetry(silentLog, createMetrics());
}

/** Sets up what every test database contains; runs once per run. */
export async function fillTemplate(url: string): Promise<void> {
  await migrate(url);
  await using database = openTestDatabase(url);
  await ensurePartitions(database);
}

export function createMigratedTemplate(): Promise<Template> {
  return Promise.resolve(migratedTemplate());
}

export function openTestDatabase(url: string, connectionsMax = 8): Database {
  return openDatabase({ url: withClock(url), connectionsMax, onIdleError: () => undefined });
}

/** For matches that are written without what is kept beside them: lists still read today's partition. */
export async function listToday(database: Database): Promise<void> {
  await database.run(
    `insert into day_heads (account_id, rule_id, platform, event_day, first_position, last_position, matches)
     select account_id, rule_id, 'x', (now() at time zone 'UTC')::date, 0, 1000000, 0
     from rules cross join lateral (values (id), ('')) as kept (rule_id)
     on conflict do nothing`,
  );
}

/** An account with rules, each holding another slot on one X source. */
export async function seedRules(
  database: Database,
  count: number,
): Promise<{ accountId: string; tags: string[] }> {
  await database.run(`insert into accounts (id, name, plan) values ('acc_1', 'one', 'paid')`);
  await database.run(`insert into sources (id, platform, capacity) values ('x:main', 'x', 1000)`);
  await database.run(
    `insert into rules (id, account_id, name, intent, state)
     select 'rule_' || n, 'acc_1', 'rule', 'test', 'active' from generate_series(1, $1) as n`,
    [count],
  );
  await database.run(
    `insert into slots (id, platform, source_id, value, value_hash, state, upstream_rule_id)
     select 'slot_' || n, 'x', 'x:main', 'v' || n, decode(md5(n::text), 'hex'), 'registered', n::text
     from generate_series(1, $1) as n`,
    [count],
  );
  await database.run(
    `insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, served_since)
     select 'slot_' || n, 'rule_' || n, 'acc_1', 'x', 1, now() from generate_series(1, $1) as n`,
    [count],
  );
  const installation = await database.one<{ id: string }>('select id from installation');
  const tags = Array.from({ length: count }, (_, index) => `earshot:${installation?.id}:slot_${index + 1}`);
  return { accountId: 'acc_1', tags };
}

/** Makes the event log as a node does at its start: on a busy machine, a cluster may elect its leaders later than a request waits. */
export async function makeEventsStream(nats: Nats, options: EventsStreamOptions): Promise<void> {
  await keepTrying(() => ensureEventsStream(nats, options), {
    delayMs: 250,
    isForGood: (error) => !isWithoutLeader(error),
  });
}
