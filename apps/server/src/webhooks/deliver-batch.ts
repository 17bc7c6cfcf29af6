import { isChatFormat } from '@earshot/contract';
import type { Bells } from '../engines/bells.ts';
import type { Traces } from '../observability/traces.ts';
import { matchIdOf } from '../runtime/ids.ts';
import { type BuildOptions, type BuiltBatch, buildBatch, buildChatBatch } from './build-batch.ts';
import { type DeliverNoticeOptions, deliverNotice } from './deliver-notice.ts';
import type { DeliveryStore } from './delivery-store.sql.ts';
import { type Attempt, afterAttempt, afterNothingToTry, isListed } from './endpoint-state.ts';
import type { DeliveredMatch, LeasedWebhook, WebhookBatch } from './leased-webhook.ts';
import { type SendOptions, sendMessage } from './send-message.ts';

export interface DeliverBatchOptions extends DeliverNoticeOptions, SendOptions, BuildOptions {
  readonly store: DeliveryStore;
  readonly bells: Bells;
  readonly traces?: Traces | null;
}

/**
 * Makes one attempt for a leased webhook: a due notice, otherwise matches. The batch is stored before it is sent, and
 * deleted when the position changes. So after a crash, the same bytes are sent again under the same id.
 */
export function createDeliverBatch(options: DeliverBatchOptions) {
  const { store, bells, telemetry, checkpoint, random } = options;
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
    const startMs = leased.nowMs();
    const attempt = await send(options, leased, batch);
    const endMs = leased.nowMs();
    checkpoint('deliver.sent');
    const step = afterAttempt(leased.state, batch, attempt, random);
    const isNotified = await store.finish(leased, step, { batch, attempt });
    checkpoint('deliver.recorded');
    if (isNotified) bells.ring('notices');
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
    if (step.state.disabledReason !== null)
      telemetry.webhookDisabled({ webhookId, accountId, reason: step.state.disabledReason });
    await traceAttempt(options, leased, { ...next, attempt, startMs, endMs });
  };
}

interface TracedAttempt {
  readonly batch: WebhookBatch;
  /** Null if the batch was built for an earlier attempt. */
  readonly matches: readonly DeliveredMatch[] | null;
  readonly attempt: Attempt;
  readonly startMs: number;
  readonly endMs: number;
}

/** The attempt is already recorded, so a failure here must not look like a failed delivery. */
async function traceAttempt(
  { traces, store }: DeliverBatchOptions,
  leased: LeasedWebhook,
  { batch, matches, attempt, startMs, endMs }: TracedAttempt,
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

/** Null if there is nothing to send; then the lease has ended. */
async function nextBatch(options: DeliverBatchOptions, leased: LeasedWebhook): Promise<BuiltBatch | null> {
  const { store, random } = options;
  const { state } = leased;
  const found = await (isChatFormat(leased.format) ? buildChatBatch : buildBatch)(options, leased);
  if ('built' in found) {
    const { built } = found;
    if (await store.begin(leased, built.batch, built.positions)) {
      options.telemetry.webhookFirstTried(leased.nowMs() - Math.max(built.storedMs, leased.dueAt.getTime()));
      return built;
    }
    await store.release(leased);
  } else if (state.suspects.length > 0) {
    await store.finish(leased, afterNothingToTry(state, random), null);
  } else if (found.isWaiting) {
    await store.waitForVerdict(leased, found.through);
  } else {
    await store.skipTo(leased, found.through);
  }
  return null;
}

function send(
  options: DeliverBatchOptions,
  leased: LeasedWebhook,
  message: Pick<WebhookBatch, 'messageId' | 'body'>,
): Promise<Attempt> {
  const onUnreadable = (err: unknown) =>
    options.telemetry.webhookSecretUnreadable({ webhookId: leased.webhookId, err });
  return sendMessage(options, leased, message, { nowMs: leased.nowMs(), onUnreadable });
}
