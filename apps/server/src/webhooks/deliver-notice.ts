import type { NoticeReader } from '../notices/notice-reader.sql.ts';
import type { Telemetry } from '../observability/telemetry.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import type { DeliveryStore } from './delivery-store.sql.ts';
import { type Attempt, afterNotice, isListed } from './endpoint-state.ts';
import type { DueNotices, LeasedWebhook } from './leased-webhook.ts';
import { noticeMessage } from './message.ts';

export interface DeliverNoticeOptions {
  readonly store: DeliveryStore;
  readonly notices: NoticeReader;
  readonly telemetry: Telemetry;
  readonly checkpoint: Checkpoint;
  readonly random: () => number;
}

/**
 * Makes one attempt to send the next notice. Nothing is stored before: after a crash, the same notice has the same
 * bytes and id. A notice that changed meanwhile is a new message.
 */
export async function deliverNotice(
  options: DeliverNoticeOptions,
  leased: LeasedWebhook,
  due: DueNotices,
  send: (message: { messageId: string; body: string }) => Promise<Attempt>,
): Promise<void> {
  const { store, notices, telemetry, checkpoint, random } = options;
  const { webhookId, accountId } = leased;
  const from = due.state.position;
  const [next] = await notices.read({ accountId, open: false, order: 'oldest', from, limit: 1 });
  if (!next) {
    await store.skipNoticesTo(leased, due.logEnd);
    return;
  }
  const message = noticeMessage(webhookId, next);
  const attempt = await send(message);
  checkpoint('deliver.sent');
  const sent = { ...attempt, position: next.position };
  const step = afterNotice(leased.state, due.state, sent, random);
  const { messageId } = message;
  await store.finishNotice(leased, step, { noticeId: next.notice.id, messageId, attempt });
  checkpoint('deliver.recorded');
  telemetry.webhookAttempted({
    isRepeated: !isListed(leased.state.failures + 1),
    webhookId,
    accountId,
    outcome: attempt.outcome.kind,
    status: attempt.status,
    matches: 0,
    parked: 0,
    ms: attempt.latencyMs,
  });
  if (step.state.disabledReason !== null)
    telemetry.webhookDisabled({ webhookId, accountId, reason: step.state.disabledReason });
}
