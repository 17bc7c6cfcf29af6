import type { Bells } from '../engines/bells.ts';
import type { EventConsumer, LoggedEvent } from '../event-log/event-consumer.ts';
import type { LogEvent } from '../event-log/event-log.ts';
import { type ParsedRules, unexplainedOperators } from '../language/explain-match.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { MatchOutcome, Traces } from '../observability/traces.ts';
import { createEventLoopYield } from '../runtime/concurrency.ts';
import { Failure } from '../runtime/failure.ts';
import { matchIdOf } from '../runtime/ids.ts';
import { pause, type Worker } from '../runtime/worker.ts';
import { type MatchResult, matchEvents, slotReferences, splitByMatches } from './match-events.ts';
import type { MatchStore, StoredBatch } from './match-store.sql.ts';

const batchMax = 1_000;
/** Limits a transaction, because later writers wait for its commit: some tenths of a second. */
const matchesAtOnceMax = 5_000;
const redeliverAfterMs = 1_000;
/** With the delay above, this is longer than a registration takes until Earshot has recorded it. */
const deliveriesMax = 45;
/** Attempts to store an event before it becomes a dead letter. */
const triesMax = 5;
/** While the database is down, a worker keeps its batch for less time than the log allows (`holdForMs`). */
const outageMsMax = 45_000;
const pollIntervalMs = 250;

export interface StoreBatchOptions {
  readonly installation: string;
  readonly store: MatchStore;
  readonly bells: Bells;
  readonly telemetry: Telemetry;
  readonly traces?: Traces | null;
  /** If set, retries while the database is down, until aborted. Otherwise an outage is a failure. */
  readonly retryWhileDown?: AbortSignal;
}

interface Verdict {
  readonly event: LogEvent;
  readonly value: string;
}

export interface MatchWorkerOptions extends StoreBatchOptions {
  readonly name: string;
  readonly consumer: EventConsumer;
  readonly parsedRules: ParsedRules;
}

/**
 * Turns events into matches: reads, resolves, writes in one transaction, acknowledges, then wakes readers. Any number
 * of workers may run, because duplicates are stored once.
 */
export function createMatchWorker(options: MatchWorkerOptions): Worker {
  return {
    name: options.name,
    async run(signal) {
      for await (const batch of options.consumer.batches(batchMax, signal)) {
        const verdicts = await storeBatch({ ...options, retryWhileDown: signal }, batch);
        await countUnexplained(options, verdicts);
      }
    },
  };
}

/**
 * The platform decides what matches (I5). If Earshot's evaluator disagrees, the match is logged and counted, because
 * the evaluator may be wrong.
 */
async function countUnexplained(
  { parsedRules, telemetry }: { parsedRules: ParsedRules; telemetry: Telemetry },
  verdicts: readonly Verdict[],
): Promise<void> {
  const yieldIfDue = createEventLoopYield();
  for (const { event, value } of verdicts) {
    const { platform, payload, platformPostId } = event;
    const operators = unexplainedOperators(parsedRules, { platform, value, raw: payload.raw });
    for (const operator of operators)
      telemetry.matchUnexplained({ platform, operator, value, platformPostId });
    await yieldIfDue();
  }
}

type Readable = LoggedEvent & { readonly event: LogEvent };

/**
 * Resolves, writes in one transaction, then acknowledges. An event that cannot be stored does not block others: the
 * batch is halved until the event is alone. After some attempts the event becomes a dead letter. A batch that is too
 * large for one transaction is stored in parts. Returns the platform's verdicts.
 */
export async function storeBatch(
  options: StoreBatchOptions,
  batch: readonly LoggedEvent[],
): Promise<Verdict[]> {
  for (const logged of batch) {
    if (logged.event === null) await deadLetter(options, logged, 'unreadable event');
  }
  return await storeInParts(options, batch.filter(isReadable));
}

function isReadable(logged: LoggedEvent): logged is Readable {
  return logged.event !== null;
}

/** The result of storing a batch: `parts` are still to be stored, one by one. */
interface BatchResult {
  readonly verdicts: readonly Verdict[];
  readonly parts: ReadonlyArray<readonly Readable[]>;
}

async function storeInParts(options: StoreBatchOptions, batch: readonly Readable[]): Promise<Verdict[]> {
  if (batch.length === 0) return [];
  const { verdicts, parts } = await storeOrHalve(options, batch);
  const all = [...verdicts];
  for (const part of parts) all.push(...(await storeInParts(options, part)));
  return all;
}

async function storeOrHalve(options: StoreBatchOptions, batch: readonly Readable[]): Promise<BatchResult> {
  const [first] = batch;
  try {
    return await storeThroughOutage(options, batch);
  } catch (error) {
    const isAlone = batch.length === 1;
    if (!isCausedByData(error) && (isAlone || !isTimeout(error))) throw error;
    if (isAlone && first) await retryLater(options, first, error);
    const half = Math.ceil(batch.length / 2);
    return { verdicts: [], parts: isAlone ? [] : [batch.slice(0, half), batch.slice(half)] };
  }
}

/**
 * Retries here, because a restarted worker and a redelivery would take longer. An interrupted transaction may have
 * been committed; duplicates are stored once.
 */
async function storeThroughOutage(
  options: StoreBatchOptions,
  batch: readonly Readable[],
): Promise<BatchResult> {
  const deadline = performance.now() + outageMsMax;
  for (;;) {
    try {
      return await storeEvents(options, batch);
    } catch (error) {
      const { retryWhileDown } = options;
      if (!retryWhileDown || !isOutage(error) || performance.now() > deadline) throw error;
      await pause(pollIntervalMs, retryWhileDown);
      if (retryWhileDown.aborted) throw error;
    }
  }
}

async function storeEvents(options: StoreBatchOptions, batch: readonly Readable[]): Promise<BatchResult> {
  const { installation, store, bells, telemetry, traces } = options;
  const startedAt = performance.now();
  const startMs = Date.now();
  const references = slotReferences(
    installation,
    batch.map(({ event }) => event),
  );
  // Read for each batch, because a snapshot in memory would lack a rule that has just taken an existing slot.
  const holders = await store.holdersOf(references);
  const parts = splitByMatches(batch, { installation, holders, max: matchesAtOnceMax });
  if (parts.length > 1) return { verdicts: [], parts };
  const inRange = await withinPartitions(options, batch);
  const streamEvents = inRange.map(({ event }) => event);
  const { verdicts, ...matched } = matchEvents(installation, streamEvents, holders);
  const { matches, unknown } = matched;
  const registering = await store.sourcesRegistering([...unknown].map((event) => event.sourceId));
  // A platform may match a new rule before Earshot has recorded the rule's id.
  const isTooEarly = (logged: Readable) =>
    unknown.has(logged.event) && registering.has(logged.event.sourceId) && logged.deliveries < deliveriesMax;
  const settled = batch.filter((logged) => !isTooEarly(logged));
  const stored = await writeInSteps(store, matched, settled);
  const nowMs = Date.now();
  for (const logged of batch) {
    if (isTooEarly(logged)) {
      logged.redeliver(redeliverAfterMs);
      continue;
    }
    const { platform, receivedMs } = logged.event;
    if (unknown.has(logged.event)) telemetry.itemDropped({ platform, reason: 'unknown_rule' });
    else if (receivedMs !== undefined && logged.loggedAt !== null)
      telemetry.eventStored({ platform, ms: nowMs - receivedMs });
    logged.ack();
  }
  if (matches.length > 0) bells.ring('matches');
  telemetry.batchStored({
    events: batch.length,
    matches: stored.counts,
    ms: performance.now() - startedAt,
  });
  if (traces) {
    const kept = new Set(inRange);
    const outcomeOf = (logged: Readable) => {
      if (isTooEarly(logged)) return 'put_off';
      if (unknown.has(logged.event)) return 'unknown_rule';
      return kept.has(logged) ? 'stored' : 'time_out_of_range';
    };
    traceBatch(traces, batch, { startMs, outcomeOf, stored: stored.traced });
  }
  return { verdicts, parts: [] };
}

interface BatchTrace {
  readonly startMs: number;
  readonly outcomeOf: (logged: Readable) => MatchOutcome;
  readonly stored: StoredBatch['traced'];
}

function traceBatch(
  traces: Traces,
  batch: readonly Readable[],
  { startMs, outcomeOf, stored }: BatchTrace,
): void {
  const newByKey = Map.groupBy(stored, ({ eventKey }) => eventKey);
  for (const logged of batch) {
    const { event, sequence, deliveries } = logged;
    const { platform, key } = event;
    if (event.isProbe || !traces.isTraced(platform, key)) continue;
    const matches = (newByKey.get(key) ?? []).map(({ position, ...match }) => ({
      ...match,
      platform,
      matchId: matchIdOf(position),
    }));
    // Duplicates within the batch have stored their matches once.
    newByKey.delete(key);
    traces.eventMatched(event, {
      startMs,
      sequence,
      deliveries,
      outcome: outcomeOf(logged),
      stored: matches,
    });
  }
}

/** One event may have more matches than a transaction takes. It is settled with the last of them. */
async function writeInSteps(
  store: MatchStore,
  { posts, matches, recipients }: Omit<MatchResult, 'verdicts'>,
  settled: readonly Readable[],
): Promise<StoredBatch> {
  const steps: StoredBatch[] = [];
  let from = 0;
  for (; from + matchesAtOnceMax < matches.length; from += matchesAtOnceMax)
    steps.push(await store.write(posts, matches.slice(from, from + matchesAtOnceMax), [], []));
  const deliveries = settled.flatMap(({ event, loggedAt }) =>
    loggedAt === null || event.isProbe
      ? []
      : [{ event, day: loggedAt.toISOString().slice(0, 10), recipients: recipients.get(event) ?? [] }],
  );
  steps.push(await store.write(posts, matches.slice(from), sequencesOf(settled), deliveries));
  const counts: Record<string, number> = {};
  for (const [name, count] of steps.flatMap((step) => Object.entries(step.counts)))
    counts[name] = (counts[name] ?? 0) + count;
  return { counts, traced: steps.flatMap(({ traced }) => traced) };
}

/** The messages that have no open events once these events are stored. */
function sequencesOf(events: readonly LoggedEvent[]): number[] {
  return [...Map.groupBy(events, ({ message }) => message)].flatMap(([{ open }, its]) =>
    open === its.length ? its.slice(0, 1).map(({ sequence }) => sequence) : [],
  );
}

/**
 * Creates missing partitions for late events. A day in the far future or past retention gets none: its event is
 * dropped and the rest of the batch is stored.
 */
async function withinPartitions(
  { store, telemetry }: StoreBatchOptions,
  batch: readonly Readable[],
): Promise<Readable[]> {
  let days = await store.days();
  const missing = new Set(batch.map(({ event }) => event.day).filter((day) => !days.has(day)));
  if (missing.size > 0) {
    await store.makeDays([...missing]);
    days = await store.days();
  }
  return batch.filter(({ event }) => {
    if (days.has(event.day)) return true;
    telemetry.itemDropped({ platform: event.platform, reason: 'time_out_of_range', detail: event.day });
    return false;
  });
}

/**
 * Whether the event is the cause, not the database or schema: data that PostgreSQL refuses (SQLSTATE classes 22, 23,
 * 54), or an exception in Earshot. Other errors are retried without limit.
 */
function isCausedByData(error: unknown): boolean {
  if (error instanceof Failure) return false;
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    return /^(22|23|54)/.test(error.code);
  }
  return true;
}

const isOutage = (error: unknown) =>
  error instanceof Failure && error.code === 'unavailable' && !isTimeout(error);

/** A statement timeout: half the batch may succeed. */
function isTimeout(error: unknown): boolean {
  if (!(error instanceof Failure)) return false;
  return error.cause instanceof Error && 'code' in error.cause && error.cause.code === '57014';
}

async function retryLater(options: StoreBatchOptions, logged: Readable, error: unknown): Promise<void> {
  const reason = error instanceof Error ? error.message : String(error);
  const outcome = logged.deliveries >= triesMax ? 'dead_letter' : 'failed';
  // Omits the reason, which may quote the item.
  options.traces?.eventMatched(logged.event, { ...logged, startMs: Date.now(), outcome, stored: [] });
  if (outcome === 'dead_letter') {
    await deadLetter(options, logged, reason);
    return;
  }
  options.telemetry.eventFailed({ sequence: logged.sequence, deliveries: logged.deliveries, reason });
  logged.redeliver(redeliverAfterMs);
}

async function deadLetter(
  { store, telemetry }: StoreBatchOptions,
  logged: LoggedEvent,
  error: string,
): Promise<void> {
  const { sequence, event, body, deliveries, loggedAt } = logged;
  const settled = sequencesOf([logged]);
  await store.writeDeadLetter({ sequence, settled, event, body, error, deliveries, loggedAt });
  logged.ack();
  telemetry.eventDeadLettered({ sequence, deliveries, reason: error });
}
