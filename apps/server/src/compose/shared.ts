import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { createBells } from '../adapters/nats/bells.ts';
import { connectNats, type Nats } from '../adapters/nats/connection.ts';
import { ensureEventsStream } from '../adapters/nats/events-stream.ts';
import { type Database, openDatabase } from '../adapters/postgres/database.ts';
import { type Installation, readInstallation } from '../adapters/postgres/installation.ts';
import { createMaintenance } from '../adapters/postgres/maintenance.ts';
import { assertDurable, migrate } from '../adapters/postgres/migrate.ts';
import type { Config } from '../config.ts';
import { createParsedRules, type ParsedRules } from '../language/parsed-rules.ts';
import { createEvents, type Events } from '../observability/events.ts';
import type { Logger } from '../observability/logger.ts';
import { createMetrics, type Metrics } from '../observability/metrics.ts';
import type { Bells } from '../runtime/bell.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';

export interface NodeOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly checkpoint: Checkpoint;
}

/** What all parts of a node share: the engines, and the way to tell what happened. */
export interface Shared extends NodeOptions {
  readonly node: string;
  readonly database: Database;
  readonly nats: Nats;
  readonly bells: Bells;
  readonly installation: Installation;
  readonly parsedRules: ParsedRules;
  readonly metrics: Metrics;
  readonly events: Events;
}

export async function connectShared(options: NodeOptions, stack: AsyncDisposableStack): Promise<Shared> {
  const { config, log } = options;
  const applied = await migrate(config.databaseUrl);
  if (applied.length > 0) log.info({ applied }, 'database migrated');
  await assertDurable(config.databaseUrl);
  const node = `${hostname()}-${randomBytes(4).toString('hex')}`;
  const database = stack.use(
    openDatabase({
      url: config.databaseUrl,
      connectionsMax: 16,
      onIdleError: (error) => log.warn({ err: error }, 'an idle database connection broke'),
    }),
  );
  await createMaintenance(database).ensureAhead();
  const nats = stack.use(await connectNats(config.natsUrl, node));
  await ensureEventsStream(nats, { replicas: config.eventsReplicas, bytesMax: config.eventsBytesMax });
  const metrics = createMetrics();
  return {
    ...options,
    node,
    database,
    nats,
    bells: createBells(nats),
    installation: await readInstallation(database),
    parsedRules: createParsedRules(),
    metrics,
    events: createEvents(log, metrics),
  };
}
