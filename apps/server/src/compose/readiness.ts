import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../engines/database.ts';
import { newestMigration } from '../engines/migrate.ts';
import type { Nats } from '../engines/nats.ts';
import { eventsStream, findEventsStream } from '../event-log/events-stream.ts';
import type { Shared } from './shared.ts';

/** The reasons why the node cannot serve requests; empty if it can. */
export type Readiness = () => Promise<string[]>;

const natsAnswersWithinMs = 1_000;
const reuseMs = 1_000;

/**
 * Ready means that the node can serve requests. A node with the role `ingest` also needs an event log that takes its events. The
 * upstreams are not part of it. Anyone may request it, so PostgreSQL and NATS are queried once a second at most.
 */
export async function createReadiness({
  database,
  nats,
  appendWatch,
  nowMs = () => performance.now(),
}: Pick<Shared, 'database' | 'nats' | 'appendWatch'> & {
  readonly nowMs?: () => number;
}): Promise<Readiness> {
  const migration = await newestMigration();
  const query = () => Promise.all([postgresProblems(database, migration), natsProblems(nats)]);
  let queried: { readonly atMs: number; readonly problems: ReturnType<typeof query> } | null = null;
  return async () => {
    if (queried === null || nowMs() - queried.atMs >= reuseMs) queried = { atMs: nowMs(), problems: query() };
    const [postgres, events] = await queried.problems;
    const refused = appendWatch.refusing() === null ? [] : ['the event log takes no events'];
    return [...postgres, ...events, ...refused];
  };
}

interface PostgresRow {
  reads_only: boolean;
  role: boolean;
  migrated: boolean;
  today: boolean;
}

async function postgresProblems(database: Database, migration: string): Promise<string[]> {
  try {
    const row = await database.one<PostgresRow>(
      `select pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as reads_only,
         exists (select 1 from pg_roles where rolname = 'earshot_account') as role,
         exists (select 1 from migrations where name = $1) as migrated,
         to_regclass('matches_' || to_char(now() at time zone 'UTC', 'YYYYMMDD')) is not null as today`,
      [migration],
    );
    return [
      ...(row?.reads_only ? ['postgresql is a read-only standby'] : []),
      ...(row?.role ? [] : ['postgresql lacks the role earshot_account: see deploy/postgres-roles.sql']),
      ...(row?.migrated ? [] : [`postgresql lacks ${migration}: run earshot admin migrate`]),
      ...(row?.today ? [] : ['postgresql lacks a partition for today']),
    ];
  } catch {
    return ['postgresql'];
  }
}

async function natsProblems(nats: Nats): Promise<string[]> {
  const answer = nats.connection
    .rtt()
    .then(() => findEventsStream(nats))
    .then(
      (stream) => (stream ? [] : [`nats lacks the stream ${eventsStream}`]),
      () => ['nats'],
    );
  // While it reconnects it does not answer, although it is not closed.
  return await Promise.race([answer, sleep(natsAnswersWithinMs, ['nats'])]);
}
