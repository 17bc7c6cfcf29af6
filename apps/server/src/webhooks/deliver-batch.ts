import { randomUUID } from 'node:crypto';
import type { ParsedRules } from '../language/explain-match.ts';
import type { Events } from '../observability/events.ts';
import type { MatchReader, StoredMatch } from '../readers/match-reader.sql.ts';
import { toMatch } from '../readers/to-match.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { createEventLoopYield } from '../runtime/concurrency.ts';
import type { Batch, Claim, DeliveryStore } from './delivery-store.ts';
import type { Attempt, Sender } from './endpoint.ts';
import { afterAttempt, afterNothingToTry } from './endpoint-state.ts';
import { createBatchBody } from './render-batch.ts';
import type { SecretBox } from './secret-box.ts';
import { messageIdOf, signedHeaders } from './sign.ts';

/** Payloads are read a few at a time: a hundred large ones would be fifty megabytes. */
const pageMatches = 25;

export interface DeliverBatchOptions {
  readonly store: DeliveryStore;
  readonly reader: MatchReader;
  readonly parsedRules: ParsedRules;
  readonly sender: Sender;
  readonly secretBox: SecretBox;
  readonly events: Events;
  readonly checkpoint: Checkpoint;
  readonly nowMs: () => number;
  readonly random: () => number;
}

/**
 * One attempt for a claimed endpoint. The batch is stored before it is sent, and goes together with the new position:
 * a crash in between sends the same bytes under the same id again.
 */
export function createDeliverBatch(options: DeliverBatchOptions) {
  const { store, events, checkpoint, nowMs, random } = options;
  return async (claim: Claim): Promise<void> => {
    checkpoint('deliver.claimed');
    const batch = claim.batch ?? (await nextBatch(options, claim));
    if (batch === null) return;
    checkpoint('deliver.batched');
    const attempt = await send(options, claim, batch);
    checkpoint('deliver.sent');
    const step = afterAttempt(claim.state, batch, attempt, { nowMs: nowMs(), random });
    await store.finish(claim, step, { batch, attempt });
    checkpoint('deliver.recorded');
    const { webhookId, accountId } = claim;
    events.webhookAttempted({
      webhookId,
      accountId,
      outcome: attempt.verdict.kind,
      status: attempt.status,
      matches: batch.matchCount,
      parked: step.parked.length,
      ms: attempt.latencyMs,
    });
    if (step.state.disabledBecause !== null)
      events.webhookDisabled({ webhookId, accountId, because: step.state.disabledBecause });
  };
}

/** Null when there is nothing to send; the claim has ended then. */
async function nextBatch(options: DeliverBatchOptions, claim: Claim): Promise<Batch | null> {
  const { store, nowMs, random } = options;
  const { state } = claim;
  const batch = await buildBatch(options, claim);
  if (batch !== null) {
    if (await store.begin(claim, batch)) return batch;
    await store.release(claim);
  } else if (state.suspects.length > 0) {
    await store.finish(claim, afterNothingToTry(state, { nowMs: nowMs(), random }), null);
  } else {
    await store.skipTo(claim, claim.logEnd);
  }
  return null;
}

async function buildBatch(options: DeliverBatchOptions, claim: Claim): Promise<Batch | null> {
  const body = createBatchBody(claim.webhookId);
  const yieldIfDue = createEventLoopYield();
  const positions: number[] = [];
  for await (const match of matchesBehind(options.reader, claim)) {
    if (!body.add(toMatch(options.parsedRules, match))) break;
    positions.push(match.position);
    await yieldIfDue();
  }
  const [firstPosition] = positions;
  const lastPosition = positions.at(-1);
  if (firstPosition === undefined || lastPosition === undefined) return null;
  const text = body.text();
  const range = { firstPosition, lastPosition };
  return {
    ...range,
    messageId: messageIdOf({ webhookId: claim.webhookId, epoch: claim.epoch, ...range, body: text }),
    matchCount: positions.length,
    attempts: 0,
    body: text,
  };
}

async function* matchesBehind(reader: MatchReader, claim: Claim): AsyncGenerator<StoredMatch> {
  const { accountId, ruleId, platform, state } = claim;
  let from = state.suspects.at(-1) ?? state.position;
  let left = state.batchMax;
  while (left > 0) {
    const limit = Math.min(pageMatches, left);
    const filter = { accountId, ruleId, platform, since: null, until: null };
    const page = await reader.read({ ...filter, order: 'oldest', from, limit });
    yield* page;
    if (page.length < limit) return;
    left -= page.length;
    from = page.at(-1)?.position ?? from;
  }
}

async function send(
  { sender, secretBox, events, nowMs }: DeliverBatchOptions,
  { webhookId, url, secrets }: Claim,
  { messageId: id, body }: Pick<Batch, 'messageId' | 'body'>,
): Promise<Attempt> {
  let opened: string[];
  try {
    opened = secrets.map((sealed) => secretBox.open(webhookId, sealed));
  } catch (error) {
    events.webhookSecretUnreadable({ webhookId, err: error });
    const detail = 'the signing secret cannot be read by the service';
    return { verdict: { kind: 'not_sent' }, status: null, latencyMs: 0, detail, response: null };
  }
  return await sender.send({ url, headers: signedHeaders({ id, body }, opened, nowMs()), body });
}

/** A message that is no match, to see whether the endpoint is there and knows its secret. */
export async function sendTest(
  options: Pick<DeliverBatchOptions, 'sender' | 'secretBox'>,
  { webhookId, url, secrets }: Pick<Claim, 'webhookId' | 'url' | 'secrets'>,
): Promise<Attempt> {
  const body = JSON.stringify({ type: 'test', webhook_id: webhookId });
  const opened = secrets.map((sealed) => options.secretBox.open(webhookId, sealed));
  const id = `msg_test${randomUUID().replaceAll('-', '')}`;
  return await options.sender.send({ url, headers: signedHeaders({ id, body }, opened, Date.now()), body });
}
