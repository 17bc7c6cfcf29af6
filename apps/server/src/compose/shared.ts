import { createStorage, type Storage } from '../archives/storage.ts';
import type { Config } from '../config/config.ts';
import type { MailPolicy } from '../digests/accept-digest.ts';
import type { Mailer } from '../digests/mailer.ts';
import { type Bells, createBells } from '../engines/bells.ts';
import { type Database, nodeConnections, openDatabase } from '../engines/database.ts';
import { type DatabaseClock, openDatabaseClock } from '../engines/database-time.ts';
import {
  assertDirect,
  assertDurable,
  findWideRights,
  type Installation,
  readInstallation,
} from '../engines/installation.ts';
import { assertMigrated, migrate } from '../engines/migrate.ts';
import { connectNats, isNatsAway, isWithoutLeader, type Nats, type NatsOptions } from '../engines/nats.ts';
import { type AppendWatch, createAppendWatch } from '../event-log/append-watch.ts';
import { claimEventLog, ForeignLog } from '../event-log/bound-log.ts';
import { copiesOn, type EventsStreamOptions } from '../event-log/events-stream.ts';
import { createParsedRules, type ParsedRules } from '../language/explain-match.ts';
import { ensurePartitions } from '../matching/partitions.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createTelemetry, type Telemetry } from '../observability/telemetry.ts';
import { createTraces, type Traces } from '../observability/traces.ts';
import { createViews, type Views } from '../readers/views.ts';
import { keepTrying } from '../runtime/backoff.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { DatabaseUnreachable, Failure } from '../runtime/failure.ts';
import { createResolve } from '../webhooks/guarded-connector.ts';
import { createSecretBox, type SecretBox } from '../webhooks/secrets.ts';
import { createSender, type Sender } from '../webhooks/sender.ts';

export interface NodeOptions {
  readonly config: Config;
  readonly log: Logger;
  readonly checkpoint: Checkpoint;
}

/** A starting node. */
interface StartingNode extends NodeOptions {
  readonly node: string;
  readonly version: string;
  readonly metrics: Metrics;
  /** Called for what the node waits for. */
  readonly onWaiting: (service: string) => void;
}

/** What all parts of a node share: PostgreSQL, NATS, logs and metrics. */
export interface Shared extends NodeOptions {
  readonly node: string;
  readonly database: Database;
  /** Times that are stored, or compared with stored times, never use the clock of this node. */
  readonly clock: DatabaseClock;
  readonly nats: Nats;
  readonly bells: Bells;
  readonly appendWatch: AppendWatch;
  readonly installation: Installation;
  readonly parsedRules: ParsedRules;
  readonly views: Views;
  readonly metrics: Metrics;
  readonly telemetry: Telemetry;
  /** Null if traces are switched off. */
  readonly traces: Traces | null;
}

/** The pool replaces the connection. If PostgreSQL is down, the next statement reports it. */
export const noteIdleError = (log: Logger) => (error: Error) =>
  log.debug({ err: error }, 'an idle database connection broke');

/** Whether PostgreSQL or NATS is down. Both connections report that themselves: `databaseChanged` and `natsChanged`. */
export const isOutage = (error: unknown): boolean =>
  error instanceof DatabaseUnreachable || isNatsAway(error);

async function bringUpToDate({ config, log }: NodeOptions): Promise<void> {
  for (const url of [config.databaseUrl, config.accountDatabaseUrl, config.migrationDatabaseUrl])
    if (url !== undefined) await assertDirect(url);
  await assertDurable(config.databaseUrl);
  if (!config.migrateAtStart) return await assertMigrated(config.databaseUrl);
  const applied = await migrate(config.migrationDatabaseUrl ?? config.databaseUrl);
  if (applied.length > 0) log.info({ applied }, 'database migrated');
}

export async function connectShared(starting: StartingNode, stack: AsyncDisposableStack): Promise<Shared> {
  const { node, version: _, metrics, onWaiting, ...options } = starting;
  const { config, log } = options;
  const telemetry = createTelemetry(log, metrics);
  const reportWaiting = (service: string) => (error: unknown) => {
    onWaiting(service);
    log.warn({ err: error }, `${service} does not answer; still trying`);
  };
  await keepTrying(() => bringUpToDate(options), {
    delayMs: 1_000,
    isForGood: (error) => !(error instanceof Failure) || error.code !== 'unavailable',
    onWaiting: reportWaiting('PostgreSQL'),
  });
  const database = stack.use(
    openDatabase({
      url: config.databaseUrl,
      accountUrl: config.accountDatabaseUrl,
      connectionsMax: nodeConnections.perLogin,
      onIdleError: noteIdleError(log),
      onChange: (change) => telemetry.databaseChanged(change),
      measure: { name: 'runtime', metrics },
    }),
  );
  metrics.databaseConnected.set(1);
  const wide = await findWideRights(database, config.accountDatabaseUrl !== undefined);
  if (wide.length > 0)
    log.warn({ wide }, 'the database login has more rights than it needs: see SECURITY.md');
  await ensurePartitions(database);
  metrics.natsConnected.set(0);
  const nats = stack.use(
    await connectNats(config.natsUrl, node, natsOptionsOf(config, telemetry, reportWaiting('NATS'))),
  );
  metrics.natsConnected.set(1);
  await keepTrying(() => claimEventLog(database, nats, eventsStreamOptions(config, nats)), {
    delayMs: 1_000,
    isForGood: (error) => !(error instanceof ForeignLog) && !isWithoutLeader(error),
    onWaiting: (error) => {
      onWaiting('its event log');
      log.error({ err: error }, 'waiting for the event log of this database');
    },
  });
  const installation = await readInstallation(database);
  const appendWatch = createAppendWatch({
    onChange: (change) =>
      'refusing' in change
        ? telemetry.eventLogRefuses({ reason: change.refusing })
        : telemetry.eventLogAcceptsAgain(change),
    server: () => nats.connection.getServer(),
  });
  metrics.appends.refusedMs = () => appendWatch.refusedMs();
  const clock = await openDatabaseClock(database);
  return {
    ...options,
    node,
    database,
    clock,
    nats,
    bells: createBells(nats),
    appendWatch,
    installation,
    parsedRules: createParsedRules(),
    views: createViews({ database, hasJudge: hasJudge(config), nowMs: clock.nowMs }),
    metrics,
    telemetry,
    traces: await openTraces(starting, installation, stack),
  };
}

/** Whether the operator has set up a judge. */
export const hasJudge = ({ judgeUrl }: Config): boolean => judgeUrl !== undefined;

/** The exporter is loaded only if traces are switched on. */
async function openTraces(
  { config, ...starting }: StartingNode,
  installation: Installation,
  stack: AsyncDisposableStack,
): Promise<Traces | null> {
  const { otlpHeaders: headers = {}, tracesRatio: ratio, roles } = config;
  const url = tracesUrlOf(config);
  if (url === undefined) return null;
  const { openSpanExport } = await import('../observability/span-export.ts');
  return createTraces(
    installation.id,
    stack.use(openSpanExport({ ...starting, url, headers, ratio, roles })),
  );
}

/** As in the OpenTelemetry specification: the endpoint for all signals gets the path of traces. */
function tracesUrlOf({ otlpUrl, otlpTracesUrl }: Config): string | undefined {
  return otlpTracesUrl ?? (otlpUrl && `${otlpUrl.replace(/\/+$/, '')}/v1/traces`);
}

export function eventsStreamOptions({ eventsBytesMax }: Config, nats: Nats): EventsStreamOptions {
  return { replicas: copiesOn(nats), bytesMax: eventsBytesMax };
}

function natsOptionsOf(
  config: Config,
  telemetry: Telemetry,
  onWaiting: NonNullable<NatsOptions['onWaiting']>,
): NatsOptions {
  const { natsCredsFile: creds, natsCaFile: ca, natsCertFile: cert, natsKeyFile: key } = config;
  return {
    files: { creds, ca, cert, key },
    onWaiting,
    onChange: (change) => telemetry.natsChanged(change),
  };
}

/** Null if the operator has not configured a key for secrets. */
export function secretBoxOf({ secretsKey }: Config): SecretBox | null {
  if (secretsKey === undefined) return null;
  const [key, ...older] = secretsKey;
  return createSecretBox(key, older);
}

export function openSender({ allowInsecureWebhooks }: Config): Sender & AsyncDisposable {
  return createSender({ resolve: createResolve(), allowInsecure: allowInsecureWebhooks });
}

export function openStorage({ allowInsecureWebhooks }: Config): Storage {
  return createStorage({ resolve: createResolve(), allowInsecure: allowInsecureWebhooks });
}

/** The public address of the console; null if the operator has not set one. */
export function consoleUrlOf({ publicUrl, console }: Config): string | null {
  return publicUrl === undefined || console === 'off' ? null : `${publicUrl}/`;
}

export function mailPolicyOf({ smtpUrl, mailFrom, mailTo }: Config): MailPolicy {
  return { isSetUp: smtpUrl !== undefined && mailFrom !== undefined, recipients: mailTo };
}

/** Null if the operator has not configured mail: the mail library is then not loaded. */
export async function openMail(
  { smtpUrl, mailFrom }: Config,
  stack: AsyncDisposableStack,
): Promise<Mailer | null> {
  if (smtpUrl === undefined || mailFrom === undefined) return null;
  const { openMailer } = await import('../digests/mailer.ts');
  return stack.use(openMailer({ url: smtpUrl, from: mailFrom }));
}
