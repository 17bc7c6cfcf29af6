import type { Platform } from '@earshot/contract';
import { recordChange } from '../accounts/change.ts';
import type { Database, Sql } from '../engines/database.ts';
import { newId } from '../runtime/ids.ts';
import type { Batch, Claim, DeliveryStore } from './delivery-store.ts';
import type { Attempt } from './endpoint.ts';
import type { EndpointState, Step } from './endpoint-state.ts';

/** Longer than an attempt can take. */
const leaseSeconds = 60;
/** `epoch`: what was under way when the owner set the webhook back counts for nothing. */
const isOurs = 'id = $1 and lease = $2 and epoch = $3';
const noLease = `lease = null, lease_until = '-infinity'`;

export function createDeliveryStore(database: Database): DeliveryStore {
  return {
    claimDue: (asked) => claimDue(database, asked),
    async begin(claim, batch) {
      const begun = await database.run(
        `insert into webhook_batches (webhook_id, message_id, first_position, last_position, match_count, body)
         select id, $4, $5, $6, $7, $8 from webhooks where ${isOurs} for share
         on conflict do nothing`,
        [
          ...keyOf(claim),
          batch.messageId,
          batch.firstPosition,
          batch.lastPosition,
          batch.matchCount,
          batch.body,
        ],
      );
      return begun === 1;
    },
    finish: (claim, step, sent) => database.transaction((sql) => finish(sql, claim, step, sent)),
    async skipTo(claim, position) {
      const skipped = await database.run(
        `update webhooks set position = greatest(position, $4), ${noLease} where ${isOurs}`,
        [...keyOf(claim), position],
      );
      if (skipped === 0) await release(database, claim);
    },
    release: (claim) => release(database, claim),
  };
}

const keyOf = ({ webhookId, lease, epoch }: Claim) => [webhookId, lease, epoch];

async function release(sql: Sql, { webhookId, lease }: Claim): Promise<void> {
  await sql.run(`update webhooks set ${noLease} where id = $1 and lease = $2`, [webhookId, lease]);
}

interface WebhookRow {
  readonly id: string;
  readonly account_id: string;
  readonly url: string;
  readonly rule_id: string | null;
  readonly platform: Platform | null;
  readonly position: number;
  readonly epoch: number;
  /** int8 inside an array comes as text. */
  readonly suspects: string[];
  readonly batch_max: number;
  readonly failures: number;
  readonly failing_since: Date | null;
  readonly next_attempt_at: Date;
  readonly troubled: boolean;
  readonly secrets: Buffer[];
  readonly log_end: number;
}

interface BatchRow {
  readonly webhook_id: string;
  readonly message_id: string;
  readonly first_position: number;
  readonly last_position: number;
  readonly match_count: number;
  readonly attempts: number;
  readonly body: string;
}

/**
 * The longest waiting first. Whether there is something to send is asked of the index of the filter; the platform
 * is left to the sender, who then skips. The batches are read by a second statement: the first one may have waited
 * for a lock, and would see them as they were before.
 */
async function claimDue(
  database: Database,
  { nowMs, max, troubled }: { nowMs: number; max: number; troubled: boolean },
): Promise<Claim[]> {
  const lease = newId('snd');
  const rows = await database.prepared<WebhookRow>(
    `with due as (
       select id from webhooks
       where state = 'active' and troubled = $4 and next_attempt_at <= $2 and lease_until < now()
         and position < (select last_position from match_log)
         and (case when rule_id is null
           then exists (select from matches m where m.account_id = webhooks.account_id and m.position > webhooks.position)
           else exists (select from matches m where m.rule_id = webhooks.rule_id and m.position > webhooks.position) end
           or exists (select from webhook_batches b where b.webhook_id = webhooks.id))
       order by next_attempt_at limit $3 for update skip locked
     )
     update webhooks set lease = $1, lease_until = now() + interval '${leaseSeconds} seconds'
     from due where webhooks.id = due.id
     returning webhooks.id, account_id, url, rule_id, platform, position, epoch, suspects, batch_max, failures,
       failing_since, next_attempt_at, troubled, (select last_position from match_log) as log_end,
       array_remove(array[secret, case when previous_secret_until > now() then previous_secret end], null) as secrets`,
    [lease, new Date(nowMs), max, troubled],
  );
  if (rows.length === 0) return [];
  const batches = await database.many<BatchRow>('select * from webhook_batches where webhook_id = any($1)', [
    rows.map((row) => row.id),
  ]);
  return rows.map((row) =>
    toClaim(
      row,
      lease,
      batches.find((batch) => batch.webhook_id === row.id),
    ),
  );
}

async function finish(
  sql: Sql,
  claim: Claim,
  step: Step,
  sent: { batch: Batch; attempt: Attempt } | null,
): Promise<void> {
  if (!(await writeState(sql, claim, step.state))) {
    await release(sql, claim);
    return;
  }
  await sql.run(
    step.keepBatch
      ? 'update webhook_batches set attempts = attempts + 1 where webhook_id = $1'
      : 'delete from webhook_batches where webhook_id = $1',
    [claim.webhookId],
  );
  if (sent !== null) await insertDelivery(sql, claim.webhookId, sent);
  if (step.parked.length > 0) await insertParked(sql, claim.webhookId, step.parked);
  if (step.state.disabledBecause !== null) {
    const { accountId, webhookId: targetId } = claim;
    const change = { accountId, actor: 'earshot', operation: 'DisableWebhook', requestId: null, claim: null };
    const after = { state: 'disabled', disabled_because: step.state.disabledBecause };
    await recordChange(sql, change, { targetId, before: { state: 'active' }, after, answer: {} });
  }
}

async function writeState(sql: Sql, claim: Claim, state: EndpointState): Promise<boolean> {
  const written = await sql.run(
    `update webhooks set position = $4, suspects = $5, batch_max = $6, failures = $7, failing_since = $8,
       next_attempt_at = $9, troubled = $10, disabled_because = $11,
       state = case when $11::text is null then state else 'disabled' end, ${noLease}
     where ${isOurs}`,
    [
      ...keyOf(claim),
      state.position,
      state.suspects,
      state.batchMax,
      state.failures,
      state.failingSinceMs === null ? null : new Date(state.failingSinceMs),
      new Date(state.nextAttemptMs),
      state.troubled,
      state.disabledBecause,
    ],
  );
  return written === 1;
}

async function insertDelivery(
  sql: Sql,
  webhookId: string,
  { batch, attempt }: { batch: Batch; attempt: Attempt },
): Promise<void> {
  await sql.run(
    `insert into deliveries (id, webhook_id, message_id, first_position, last_position, match_count, attempt,
       outcome, status, latency_ms, detail, response)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      newId('dlv'),
      webhookId,
      batch.messageId,
      batch.firstPosition,
      batch.lastPosition,
      batch.matchCount,
      batch.attempts + 1,
      attempt.verdict.kind,
      attempt.status,
      attempt.latencyMs,
      attempt.detail,
      attempt.response,
    ],
  );
}

async function insertParked(sql: Sql, webhookId: string, positions: readonly number[]): Promise<void> {
  await sql.run(
    `insert into deliveries (id, webhook_id, first_position, last_position, match_count, outcome, detail)
     select id, $1, position, position, 1, 'parked', 'refused, while a later match was accepted'
     from unnest($2::text[], $3::bigint[]) as parked (id, position)`,
    [webhookId, positions.map(() => newId('dlv')), positions],
  );
}

function toClaim(row: WebhookRow, lease: string, batch: BatchRow | undefined): Claim {
  return {
    lease,
    webhookId: row.id,
    accountId: row.account_id,
    epoch: row.epoch,
    url: row.url,
    ruleId: row.rule_id,
    platform: row.platform,
    secrets: row.secrets,
    state: {
      position: row.position,
      suspects: row.suspects.map(Number),
      batchMax: row.batch_max,
      failures: row.failures,
      failingSinceMs: row.failing_since?.getTime() ?? null,
      nextAttemptMs: row.next_attempt_at.getTime(),
      troubled: row.troubled,
      disabledBecause: null,
    },
    batch: batch === undefined ? null : toBatch(batch),
    logEnd: row.log_end,
  };
}

function toBatch(row: BatchRow): Batch {
  return {
    messageId: row.message_id,
    firstPosition: row.first_position,
    lastPosition: row.last_position,
    matchCount: row.match_count,
    attempts: row.attempts,
    body: row.body,
  };
}
