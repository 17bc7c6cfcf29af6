import type { Sql } from '../engines/database.ts';
import { newId } from '../runtime/ids.ts';
import { type Attempt, isListed } from './endpoint-state.ts';
import type { LeasedWebhook, WebhookBatch } from './leased-webhook.ts';

export interface AttemptRecord {
  readonly attempt: Attempt;
}

export interface BatchAttempt extends AttemptRecord {
  readonly batch: WebhookBatch;
}

export interface NoticeAttempt extends AttemptRecord {
  readonly noticeId: string;
  readonly messageId: string;
}

/**
 * SQL: counts the attempt in the webhook's ($1) latest row, or says that it gets its own. If $2 is false, it is counted if it has the
 * answer ($3 to $5) of that row.
 */
const counted = `counted as (
  update deliveries set times = times + 1, last_at = now()
  where id = (select id from deliveries where webhook_id = $1 order by id desc limit 1) and not $2
    and outcome = $3 and status is not distinct from $4::integer and message is not distinct from $5
  returning id
)`;
const isNews = 'not exists (select from counted)';

function answerOf({ webhookId, state }: LeasedWebhook, { outcome, status, message }: Attempt) {
  const canRepeat = outcome.kind === 'failed' || outcome.kind === 'refused';
  return [webhookId, !canRepeat || isListed(state.failures + 1), outcome.kind, status, message];
}

export async function insertDelivery(
  sql: Sql,
  leased: LeasedWebhook,
  { batch, attempt }: BatchAttempt,
): Promise<void> {
  const { messageId, firstPosition, lastPosition, matchCount, attempts } = batch;
  const message = [messageId, firstPosition, lastPosition, matchCount, attempts + 1];
  await sql.run(
    `with ${counted}
     insert into deliveries (webhook_id, outcome, status, message, id, message_id, first_position, last_position,
       match_count, attempt, latency_ms, response)
     select $1, $3, $4, $5, $6, $7, $8::bigint, $9::bigint, $10::integer, $11::integer, $12::integer, $13 where ${isNews}`,
    [...answerOf(leased, attempt), newId('dlv'), ...message, attempt.latencyMs, attempt.response],
  );
}

/** A notice that is given up gets a second row. */
export async function insertNoticeDelivery(
  sql: Sql,
  leased: LeasedWebhook,
  { noticeId, messageId, attempt }: NoticeAttempt,
  parked: boolean,
): Promise<void> {
  const { latencyMs, response } = attempt;
  const nth = leased.state.failures + (leased.notices?.state.refusals ?? 0) + 1;
  const insert = `with ${counted}
    insert into deliveries (webhook_id, outcome, status, message, id, notice_id, first_position, last_position,
      match_count, message_id, attempt, latency_ms, response)
    select $1, $3, $4, $5, $6, $7, 0, 0, 0, $8, $9::integer, $10::integer, $11 where ${isNews}`;
  const sent = [newId('dlv'), noticeId, messageId, nth, latencyMs, response];
  await sql.run(insert, [...answerOf(leased, attempt), ...sent]);
  if (!parked) return;
  const givenUp = [leased.webhookId, true, 'parked', null, 'refused at every attempt'];
  await sql.run(insert, [...givenUp, newId('dlv'), noticeId, null, null, null, null]);
}

export async function insertParked(sql: Sql, webhookId: string, positions: readonly number[]): Promise<void> {
  await sql.run(
    `insert into deliveries (id, webhook_id, first_position, last_position, match_count, outcome, message)
     select id, $1, position, position, 1, 'parked', 'refused, while a later match was accepted'
     from unnest($2::text[], $3::bigint[]) as parked (id, position)`,
    [webhookId, positions.map(() => newId('dlv')), positions],
  );
}
