import type { Bells } from '../engines/bells.ts';
import type { ParsedRules } from '../language/explain-match.ts';
import type { Traces } from '../observability/traces.ts';
import type { MatchReader, StoredMatch, StoredRemoval } from '../readers/match-reader.sql.ts';
import { toMatch, toRemoval } from '../readers/to-match.ts';
import { createTurns } from '../runtime/concurrency.ts';
import { matchIdOf } from '../runtime/ids.ts';
import { type DeliverNoticeOptions, deliverNotice } from './deliver-notice.ts';
import type { Batch, DeliveredMatch, LeasedWebhook } from './delivery-store.sql.ts';
import {
  type Attempt,
  afterAttempt,
  afterNothingToTry,
  isListed,
  secretUnreadable,
} from './endpoint-state.ts';
import { createBatchBody, messageIdOf } from './message.ts';
import { type SecretBox, signedHeaders } from './secrets.ts';
import type { Sender } from './sender.ts';

export interface DeliverBatchOptions extends DeliverNoticeOptions {
  readonly reader: MatchReader;
  readonly parsedRules: ParsedRules;
  readonly sender: Sender;
  readonly secretBox: SecretBox;
  readonly bells: Bells;
  readonly traces?: Traces | null;
}

/**
 * One attempt for a leased webhook: with a notice, if one is due, or else with matches. The batch is stored before it is sent, and removed together with the change of the
 * position: after a crash in between, the same bytes are sent again under the same id.
 */
export function createDeliverBatch(options: DeliverBatchOptions) {
  const { store, bells, telemetry, checkpoint, nowMs, random } = options;
  return async (leased: LeasedWebhook): Promise<void> => {
    checkpoint('deliver.claimed');
    if (leased.notices !== null) {
      await deliverNotice(options, leased, leased.notices, (message) => send(options, leased, message));
      return;
    }
    const next = leased.batch ? { batch: leased.batch, matches: null } : await nextBatch(options, leased);
    if (next === null) return;
    const { batch } = next;
    checkpoint('deliver.batched');
    const startMs = nowMs();
    const attempt = await send(options, leased, batch);
    const endMs = nowMs();
    checkpoint('deliver.sent');
    const atMs = nowMs();
    const step = afterAttempt(leased.state, batch, attempt, { nowMs: atMs, random });
    const isTold = await store.finish(leased, step, { batch, attempt, atMs });
    checkpoint('deliver.recorded');
    if (isTold) bells.ring('notices');
    const { webhookId, accountId } = leased;
    telemetry.webhookAttempted({
      isRepeated: !isListed(leased.state.failures + 1),
      webhookId,
      accountId,
      outcome: attempt.outcome.kind,
      status: attempt.status,
      matches: batch.matchCount,
      parked: step.parked.length,
      ms: attempt.latencyMs,
    });
    if (step.state.disabledBecause !== null)
      telemetry.webhookDisabled({ webhookId, accountId, because: step.state.disabledBecause });
    await traceAttempt(options, leased, { ...next, attempt, startMs, endMs });
  };
}

interface Attempted {
  readonly batch: Batch;
  /** Null when the batch was made for an earlier attempt. */
  readonly matches: readonly DeliveredMatch[] | null;
  readonly attempt: Attempt;
  readonly startMs: number;
  readonly endMs: number;
}

/** The attempt is over and recorded: a failure in here must not look like one of the delivery. */
async function traceAttempt(
  { traces, store }: DeliverBatchOptions,
  leased: LeasedWebhook,
  { batch, matches, attempt, startMs, endMs }: Attempted,
): Promise<void> {
  if (!traces) return;
  const sent = matches ?? (await store.matchesOf(leased, batch).catch(() => []));
  traces.webhookAttempted({
    webhookId: leased.webhookId,
    messageId: batch.messageId,
    nth: batch.attempts + 1,
    outcome: attempt.outcome.kind,
    status: attempt.status,
    startMs,
    endMs,
    matches: sent.map(({ position, ...match }) => ({ ...match, matchId: matchIdOf(position) })),
  });
}

/** Null when there is nothing to send; the lease has ended then. */
async function nextBatch(options: DeliverBatchOptions, leased: LeasedWebhook): Promise<BuiltBatch | null> {
  const { store, nowMs, random } = options;
  const { state } = leased;
  const built = await buildBatch(options, leased);
  if (built !== null) {
    if (await store.begin(leased, built.batch, built.positions)) {
      options.telemetry.webhookFirstTried(nowMs() - Math.max(built.storedMs, state.nextAttemptMs));
      return built;
    }
    await store.release(leased);
  } else if (state.suspects.length > 0) {
    await store.finish(leased, afterNothingToTry(state, { nowMs: nowMs(), random }), null);
  } else {
    await store.skipTo(leased, leased.logEnd);
  }
  return null;
}

interface BuiltBatch {
  readonly batch: Batch;
  readonly positions: readonly number[];
  readonly matches: readonly DeliveredMatch[];
  /** When the oldest of them was stored. */
  readonly storedMs: number;
}

async function buildBatch(options: DeliverBatchOptions, leased: LeasedWebhook): Promise<BuiltBatch | null> {
  const body = createBatchBody(leased.webhookId);
  const nextTurn = createTurns();
  const positions: number[] = [];
  const matches: DeliveredMatch[] = [];
  let storedMs = Number.POSITIVE_INFINITY;
  for await (const entry of entriesAfter(options.reader, leased)) {
    await nextTurn();
    const fits =
      'payload' in entry ? body.add(toMatch(options.parsedRules, entry)) : body.addRemoval(toRemoval(entry));
    if (!fits) break;
    if ('payload' in entry && options.traces) matches.push(withoutContent(entry));
    storedMs = Math.min(storedMs, ('payload' in entry ? entry.createdAt : entry.at).getTime());
    if (positions.push(entry.position) === leased.state.batchMax) break;
  }
  const [firstPosition] = positions;
  const lastPosition = positions.at(-1);
  if (firstPosition === undefined || lastPosition === undefined) return null;
  const text = body.text();
  const range = { firstPosition, lastPosition };
  const messageId = messageIdOf({ webhookId: leased.webhookId, epoch: leased.epoch, ...range, body: text });
  const batch = { ...range, messageId, matchCount: positions.length, attempts: 0, body: text };
  return { batch, positions, matches, storedMs };
}

const withoutContent = ({ position, ruleId, platform, eventKey }: StoredMatch): DeliveredMatch => ({
  position,
  ruleId,
  platform,
  eventKey,
});

/** In the order of the log, until there are no more. */
async function* entriesAfter(
  reader: MatchReader,
  leased: LeasedWebhook,
): AsyncGenerator<StoredMatch | StoredRemoval> {
  const { accountId, ruleId, platform, state } = leased;
  let from = state.suspects.at(-1) ?? state.position;
  for (;;) {
    const filter = { accountId, ruleId, platform, since: null, until: null };
    const page = await reader.read({ ...filter, order: 'oldest', from, limit: state.batchMax });
    const entries = [...page.matches, ...page.removals].toSorted(
      (one, other) => one.position - other.position,
    );
    yield* entries;
    if (!page.more) return;
    from = entries.at(-1)?.position ?? from;
  }
}

async function send(
  { sender, secretBox, telemetry, nowMs }: DeliverBatchOptions,
  { webhookId, url, secrets }: LeasedWebhook,
  { messageId: id, body }: Pick<Batch, 'messageId' | 'body'>,
): Promise<Attempt> {
  let opened: string[];
  try {
    opened = secrets.map((sealed) => secretBox.open(webhookId, sealed));
  } catch (error) {
    telemetry.webhookSecretUnreadable({ webhookId, err: error });
    return secretUnreadable;
  }
  return await sender.send({ url, headers: signedHeaders({ id, body }, opened, nowMs()), body });
}
