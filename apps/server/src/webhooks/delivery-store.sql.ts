import { type Platform, type RelevanceFilter, type WebhookFormat } from '@earshot/contract';
import { recordChange } from '../accounts/change.ts';
import { type Database, type Sql, textArray } from '../engines/database.ts';
import { clockFrom } from '../engines/database-time.ts';
import { raiseNotices, resolveNotices } from '../notices/notice-log.sql.ts';
import { newId } from '../runtime/ids.ts';
import { joinCalls } from '../runtime/join-calls.ts';
import {
  type AttemptRecord,
  type BatchAttempt,
  insertDelivery,
  insertNoticeDelivery,
  insertParked,
  type NoticeAttempt,
} from './delivery-rows.sql.ts';
import { batchMatchesMax, type EndpointState, type NoticeStep, type Step } from './endpoint-state.ts';
import { type DeliveredMatch, isFull, type LeasedWebhook, type WebhookBatch } from './leased-webhook.ts';

/** Longer than an attempt can take. */
const leaseSeconds = 60;
/** The epoch grows when the owner replays the webhook; then a running delivery no longer counts. */
const isOurs = 'id = $1 and lease = $2 and epoch = $3';
const noLease = `lease = null, lease_until = '-infinity'`;

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

/** Webhooks that are written together. Bounds how long a statement keeps their rows locked. */
const groupMax = 200;

export function createDeliveryStore(database: Database) {
  const begin = joinCalls((begun: readonly Begun[]) => beginAll(database, begun), {
    max: groupMax,
    retriesAlone: true,
  });
  const finishDelivered = joinCalls((delivered: readonly Delivered[]) => finishAll(database, delivered), {
    max: groupMax,
    retriesAlone: true,
  });
  return {
    /** Leases webhooks that are due and have something to send. `troubled` ones and others are leased separately. */
    leaseDue: (options: { max: number; troubled: boolean }) => leaseDue(database, options),
    /**
     * Stores the batch of the matches at these positions. If it returns false, nothing may be sent: the lease has
     * ended or a match was removed.
     */
    begin: (leased: LeasedWebhook, batch: WebhookBatch, positions: readonly number[]): Promise<boolean> =>
      begin({ leased, batch, positions }),
    /**
     * Records the attempt, if any, and the new state of the endpoint. Ends the lease. True if the owner gets a
     * notice.
     */
    async finish(leased: LeasedWebhook, step: Step, sent: BatchAttempt | null): Promise<boolean> {
      // Most attempts succeed, and are recorded together.
      if (sent?.attempt.outcome.kind !== 'delivered' || step.parked.length > 0)
        return await database.transaction((sql) => finish(sql, leased, step, sent));
      const recorded = await finishDelivered({ leased, step, sent });
      if (recorded === 'not ours') await release(database, leased);
      return recorded === 'has notice' && (await database.transaction((sql) => resolveFailing(sql, leased)));
    },
    /** Like `finish`, after an attempt with a notice. */
    finishNotice: (leased: LeasedWebhook, step: NoticeStep, sent: NoticeAttempt) =>
      database.transaction((sql) => finishNotice(sql, leased, step, sent)),
    /** Skips to the position, because there are no notices before it. Ends the lease. */
    async skipNoticesTo(leased: LeasedWebhook, position: number): Promise<void> {
      const skipped = await database.run(
        `update webhooks set notice_position = greatest(notice_position, $4), ${noLease} where ${isOurs}`,
        [...keyOf(leased), position],
      );
      if (skipped === 0) await release(database, leased);
    },
    /** Skips to the position, because there are no matches before it. Ends the lease. */
    async skipTo(leased: LeasedWebhook, position: number): Promise<void> {
      const skipped = await database.run(
        `update webhooks set position = greatest(position, $4), ${noLease} where ${isOurs}`,
        [...keyOf(leased), position],
      );
      if (skipped === 0) await release(database, leased);
    },
    /** Skips to the position. What follows waits for a verdict, so the next attempt is soon. Ends the lease. */
    async waitForVerdict(leased: LeasedWebhook, position: number): Promise<void> {
      const waiting = await database.run(
        `update webhooks set position = greatest(position, $4), next_attempt_at = now() + interval '500 ms', ${noLease}
         where ${isOurs}`,
        [...keyOf(leased), position],
      );
      if (waiting === 0) await release(database, leased);
    },
    release: (leased: LeasedWebhook) => release(database, leased),
    /** The matches of a stored batch, without removed ones. */
    matchesOf({ accountId, ruleIds, platform }: LeasedWebhook, batch: WebhookBatch) {
      const { firstPosition, lastPosition } = batch;
      const limit = Math.min(batch.matchCount, batchMatchesMax);
      return database.many<DeliveredMatch>(
        `select position, rule_id as "ruleId", platform, event_key as "eventKey" from matches
         where account_id = $1 and position between $2 and $3 and ($4::text[] is null or rule_id = any($4))
           and ($5::text is null or platform = $5) order by position limit $6`,
        [accountId, firstPosition, lastPosition, ruleIds, platform, limit],
      );
    },
    async ruleNames(ruleIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
      const rows = await database.many<{ id: string; name: string }>(
        'select id, name from rules where id = any($1)',
        [ruleIds],
      );
      return new Map(rows.map(({ id, name }) => [id, name]));
    },
  };
}

interface Begun {
  readonly leased: LeasedWebhook;
  readonly batch: WebhookBatch;
  readonly positions: readonly number[];
}

/** In the order of the webhooks, which a removal locks in the same order. */
async function beginAll(sql: Sql, begun: readonly Begun[]): Promise<boolean[]> {
  const rows = await sql.prepared<{ id: string }>(
    `select id from (
       select id, lease, epoch, message_id, positions, body
       from unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::text[], $6::text[])
         as given (id, lease, epoch, message_id, positions, body)
       order by id offset 0
     ) as given
     where begin_webhook_batch(id, lease, epoch, message_id, positions::bigint[], body)`,
    [
      ...keysOf(begun),
      begun.map(({ batch }) => batch.messageId),
      begun.map(({ positions }) => `{${positions.join(',')}}`),
      textArray(begun.map(({ batch }) => batch.body)),
    ],
  );
  const found = new Set(rows.map(({ id }) => id));
  return begun.map(({ leased }) => found.has(leased.webhookId));
}

interface Delivered {
  readonly leased: LeasedWebhook;
  readonly step: Pick<Step, 'state'>;
  readonly sent: BatchAttempt;
}

/** `has notice`: an earlier failure of the webhook has an open notice. `not ours`: the lease is no longer valid. */
type Recorded = 'done' | 'has notice' | 'not ours';

/** SQL: polls need not check a webhook whose window is not over. At most a second, because a notice does not wait for the window. */
const afterWindow = `now() + make_interval(secs => case when given.is_full then 0 else least(window_seconds, 1) end)`;

/**
 * What `finish` does for each of them, in one statement. Messages that were accepted at the first attempt are counted, with a row for
 * each minute: a day of them would be millions of equal rows.
 */
async function finishAll(sql: Sql, delivered: readonly Delivered[]): Promise<Recorded[]> {
  const rows = await sql.prepared<{ id: string; has_notice: boolean }>(
    `with given as (
       select * from unnest($1::text[], $2::text[], $3::integer[], $4::integer[], $5::boolean[], $6::timestamptz[], $7::boolean[],
         $8::text[], $9::text[], $10::bigint[], $11::bigint[], $12::integer[], $13::integer[], $14::integer[], $15::integer[],
         $16::text[])
         as given (id, lease, epoch, batch_max, troubled, next_attempt_at, is_full, delivery_id,
           message_id, first_position, last_position, match_count, attempt, status, latency_ms, response)
     ), written as (
       update webhooks set position = given.last_position, suspects = '{}', batch_max = given.batch_max, failures = 0,
         failing_since = null, next_attempt_at = ${nextAttemptAt('given.next_attempt_at', afterWindow)},
         troubled = given.troubled, disabled_reason = null,
         message_at = case when not given.is_full then now() end, ${noLease}
       from given where webhooks.id = given.id and webhooks.lease = given.lease and webhooks.epoch = given.epoch
       returning webhooks.id, account_id
     ), sent as (
       delete from webhook_batches using written where webhook_id = written.id
     ), recorded as materialized (
       select given.*, latest.id as latest_id,
         coalesce(given.attempt = 1 and latest.attempt = 1 and latest.outcome = 'delivered' and latest.notice_id is null
           and latest.status = given.status and latest.created_at > now() - interval '1 minute', false) as is_counted
       from given join written using (id)
       left join lateral (
         select * from deliveries where webhook_id = given.id order by deliveries.id desc limit 1
       ) as latest on true
     ), counted as (
       update deliveries set times = times + 1, last_at = now(), message_id = recorded.message_id,
         last_position = recorded.last_position, match_count = deliveries.match_count + recorded.match_count,
         latency_ms = recorded.latency_ms, response = recorded.response
       from recorded where deliveries.id = latest_id and is_counted
     ), listed as (
       insert into deliveries (id, webhook_id, message_id, first_position, last_position, match_count, attempt, outcome,
         status, latency_ms, response)
       select delivery_id, id, message_id, first_position, last_position, match_count, attempt, 'delivered',
         status, latency_ms, response
       from recorded where not is_counted
     )
     select id, exists (
       select from notices where resolved_at is null and type = any($17) and subject_kind = 'webhook' and subject_id = written.id
         and notices.account_id = written.account_id
     ) as has_notice from written`,
    [
      ...keysOf(delivered),
      delivered.map(({ step }) => step.state.batchMax),
      delivered.map(({ step }) => step.state.troubled),
      delivered.map(({ leased }) => leased.nextAttemptAt),
      delivered.map(({ leased, sent }) => isFull(leased, sent.batch)),
      delivered.map(() => newId('dlv')),
      delivered.map(({ sent }) => sent.batch.messageId),
      delivered.map(({ sent }) => sent.batch.firstPosition),
      delivered.map(({ sent }) => sent.batch.lastPosition),
      delivered.map(({ sent }) => sent.batch.matchCount),
      delivered.map(({ sent }) => sent.batch.attempts + 1),
      delivered.map(({ sent }) => sent.attempt.status),
      delivered.map(({ sent }) => sent.attempt.latencyMs),
      delivered.map(({ sent }) => sent.attempt.response),
      failingTypes,
    ],
  );
  const found = new Map(rows.map(({ id, has_notice }) => [id, has_notice]));
  return delivered.map(({ leased }) => {
    const hasNotice = found.get(leased.webhookId);
    if (hasNotice === undefined) return 'not ours';
    return hasNotice ? 'has notice' : 'done';
  });
}

const keysOf = (all: ReadonlyArray<{ readonly leased: LeasedWebhook }>) => [
  all.map(({ leased }) => leased.webhookId),
  all.map(({ leased }) => leased.lease),
  all.map(({ leased }) => leased.epoch),
];

const keyOf = ({ webhookId, lease, epoch }: LeasedWebhook) => [webhookId, lease, epoch];

async function release(sql: Sql, { webhookId, lease }: LeasedWebhook): Promise<void> {
  await sql.run(`update webhooks set ${noLease} where id = $1 and lease = $2`, [webhookId, lease]);
}

interface DueRow {
  readonly id: string;
  readonly account_id: string;
  readonly name: string;
  readonly url: string;
  readonly format: WebhookFormat;
  readonly due_at: Date;
  readonly leased_at: Date;
  readonly rule_ids: string[] | null;
  readonly platform: Platform | null;
  readonly relevance: RelevanceFilter;
  readonly stories_from: number | null;
  readonly position: number;
  readonly epoch: number;
  /** The driver returns int8 inside an array as text. */
  readonly suspects: string[];
  readonly batch_max: number;
  readonly max_matches: number;
  readonly failures: number;
  readonly failing_ms: number | null;
  readonly next_attempt_at: Date;
  readonly troubled: boolean;
  readonly secrets: Buffer[];
  readonly log_end: number;
  readonly notice_position: number;
  readonly notice_refusals: number;
  /** Null if none is due. */
  readonly notices_end: number | null;
}

/** SQL: a webhook that is active, not leased, and not of a suspended account. */
export const isFree = `state = 'active' and lease_until < now()
  and account_id not in (select accounts.id from accounts where suspended_at is not null)`;

/** SQL: a stored match of the webhook's rules is not delivered yet. */
export const hasMatchesWaiting = `exists (
  select from heads where heads.account_id = webhooks.account_id
    and heads.rule_id = any(coalesce(webhooks.rule_ids, '{""}')) and heads.last_position > webhooks.position
    and (webhooks.platform is null or heads.platform = webhooks.platform))`;

/** SQL: a match or a stored batch is not delivered yet. */
export const hasUnsent = `(${hasMatchesWaiting} or id in (select webhook_id from webhook_batches))`;

/** SQL: when the webhook may get its next message with matches; null: at once. */
export const windowOverAt = `message_at + make_interval(secs => window_seconds)`;

/** SQL: when the next message with matches is due. */
const dueAt = `greatest(next_attempt_at, ${windowOverAt})`;

/** SQL: the end of the account's notices if some are due; else null. */
const noticesEnd = `case when 'notices' = any(events) and notice_attempt_at <= now() then (
  select last_position from notice_log
  where notice_log.account_id = webhooks.account_id and last_position > notice_position) end`;

/**
 * Longest waiting first. The last positions show whether there is something to send; matches of deleted rules are
 * skipped by the sender. A second statement reads the batches, because the first may have waited for a lock and would
 * see them in their earlier state.
 */
async function leaseDue(
  database: Database,
  { max, troubled }: { max: number; troubled: boolean },
): Promise<LeasedWebhook[]> {
  const lease = newId('snd');
  const rows = await database.prepared<DueRow>(
    `with due as (
       select id from webhooks
       where ${isFree} and troubled = $3 and next_attempt_at <= now()
         and ('matches' = any(events) and coalesce(${windowOverAt} <= now(), true) and position < (select last_position from match_log)
           and ${hasUnsent}
           or ${noticesEnd} is not null)
       order by next_attempt_at limit $2 for update skip locked
     )
     update webhooks set lease = $1, lease_until = now() + interval '${leaseSeconds} seconds'
     from due where webhooks.id = due.id
     returning webhooks.id, account_id, name, url, format, ${dueAt} as due_at, now() as leased_at, rule_ids, platform, relevance, case when grouping = 'story' then stories_from end as stories_from, position, epoch, suspects, batch_max, max_matches, failures,
       extract(epoch from now() - failing_since)::float8 * 1000 as failing_ms, next_attempt_at, troubled, (select last_position from match_log) as log_end,
       notice_position, notice_refusals, ${noticesEnd} as notices_end,
       array_remove(array[secret, case when previous_secret_until > now() then previous_secret end], null) as secrets`,
    [lease, max, troubled],
  );
  if (rows.length === 0) return [];
  const batches = await database.many<WebhookBatch & { readonly webhookId: string }>(
    `select webhook_id as "webhookId", message_id as "messageId", first_position as "firstPosition",
       last_position as "lastPosition", match_count as "matchCount", attempts, body
     from webhook_batches where webhook_id = any($1)`,
    [rows.map((row) => row.id)],
  );
  const batchOf = new Map(batches.map(({ webhookId, ...batch }) => [webhookId, batch]));
  return rows.map((row) => toLeased(row, lease, batchOf.get(row.id) ?? null));
}

function toLeased(row: DueRow, lease: string, batch: WebhookBatch | null): LeasedWebhook {
  return {
    lease,
    webhookId: row.id,
    accountId: row.account_id,
    epoch: row.epoch,
    name: row.name,
    url: row.url,
    format: row.format,
    dueAt: row.due_at,
    nowMs: clockFrom(row.leased_at),
    ruleIds: row.rule_ids,
    platform: row.platform,
    relevance: row.relevance,
    maxMatches: row.max_matches,
    storiesFrom: row.stories_from,
    secrets: row.secrets,
    state: {
      position: row.position,
      suspects: row.suspects.map(Number),
      batchMax: row.batch_max,
      failures: row.failures,
      failingMs: row.failing_ms,
      troubled: row.troubled,
      disabledReason: null,
    },
    nextAttemptAt: row.next_attempt_at,
    batch,
    logEnd: row.log_end,
    notices:
      row.notices_end === null
        ? null
        : {
            state: {
              position: row.notice_position,
              refusals: row.notice_refusals,
            },
            logEnd: row.notices_end,
          },
  };
}

async function finish(
  sql: Sql,
  leased: LeasedWebhook,
  step: Step,
  sent: BatchAttempt | null,
): Promise<boolean> {
  const written = await writeState(sql, leased, step);
  if (!written) {
    await release(sql, leased);
    return false;
  }
  await sql.run(
    step.keepBatch
      ? 'update webhook_batches set attempts = attempts + 1 where webhook_id = $1'
      : 'delete from webhook_batches where webhook_id = $1',
    [leased.webhookId],
  );
  if (sent !== null) await insertDelivery(sql, leased, sent);
  if (sent?.attempt.outcome.kind === 'delivered')
    await sql.run('update webhooks set message_at = case when $2 then null else now() end where id = $1', [
      leased.webhookId,
      isFull(leased, sent.batch),
    ]);
  if (step.parked.length > 0) await insertParked(sql, leased.webhookId, step.parked);
  return await recordOutcome(sql, leased, { ...step.state, ...written }, sent);
}

async function finishNotice(
  sql: Sql,
  leased: LeasedWebhook,
  { notice, noticeInMs, parked, ...step }: NoticeStep,
  sent: NoticeAttempt,
): Promise<boolean> {
  const written = await writeState(sql, leased, step);
  if (!written) {
    await release(sql, leased);
    return false;
  }
  await sql.run(
    `update webhooks set notice_position = $2, notice_refusals = $3, notice_attempt_at = now() + $4 * interval '1 ms'
     where id = $1`,
    [leased.webhookId, notice.position, notice.refusals, noticeInMs],
  );
  await insertNoticeDelivery(sql, leased, sent, parked);
  return await recordOutcome(sql, leased, { ...step.state, ...written }, sent);
}

async function recordOutcome(
  sql: Sql,
  leased: LeasedWebhook,
  state: WrittenState,
  sent: AttemptRecord | null,
): Promise<boolean> {
  if (state.disabledReason !== null) {
    const { accountId, webhookId: targetId } = leased;
    const change = { accountId, actor: 'earshot', operation: 'DisableWebhook', requestId: null, claim: null };
    const after = { state: 'disabled', reason: state.disabledReason };
    await recordChange(sql, change, { targetId, before: { state: 'active' }, after, answer: {} });
  }
  return await notifyOwner(sql, leased, state, sent);
}

/** The owner gets a notice for the first failure of a day, and when a failure has lasted this long. */
const noticeAfterMs = 5 * 60_000;
const dayMs = 86_400_000;

/** Runs last in the transaction, like all notices. */
async function notifyOwner(
  sql: Sql,
  { accountId, webhookId: id, name, state: before }: LeasedWebhook,
  { failures, failingMs, failingSince, disabledReason }: WrittenState,
  sent: AttemptRecord | null,
): Promise<boolean> {
  const subject = { kind: 'webhook', id, name } as const;
  if (disabledReason !== null) {
    await resolveNotices(sql, { types: ['webhook.failing'], subject });
    const data = { reason: disabledReason };
    return (await raiseNotices(sql, [accountId], { type: 'webhook.disabled', subject, data })) > 0;
  }
  if (failures === 0)
    return sent?.attempt.outcome.kind === 'delivered' && (await resolveFailing(sql, { webhookId: id, name }));
  if (sent === null || failingMs === null || failingSince === null) return false;
  if (before.failures > 0 && failingMs < noticeAfterMs) return false;
  const data = { failing_since: failingSince.toISOString(), failures };
  const failing = { type: 'webhook.failing', subject, data } as const;
  if (failingMs >= dayMs)
    return (await raiseNotices(sql, [accountId], { ...failing, key: 'day', data: { ...data, days: 1 } })) > 0;
  const oncePerDay = failingMs < noticeAfterMs;
  return (await raiseNotices(sql, [accountId], { ...failing, oncePerDay })) > 0;
}

const failingTypes = ['webhook.failing', 'webhook.disabled'] as const;

async function resolveFailing(
  sql: Sql,
  { webhookId: id, name }: Pick<LeasedWebhook, 'webhookId' | 'name'>,
): Promise<boolean> {
  const subject = { kind: 'webhook', id, name } as const;
  return (await resolveNotices(sql, { types: failingTypes, subject })).length > 0;
}

type WrittenState = EndpointState & Written;

interface Written {
  readonly failingSince: Date | null;
}

/**
 * SQL: the time of the next attempt. A time that is not the one at the lease was set by the owner meanwhile, and stays if it is earlier.
 */
const nextAttemptAt = (atLease: string, wanted: string) =>
  `case when webhooks.next_attempt_at >= ${atLease} and webhooks.next_attempt_at < ${atLease} + interval '1 ms'
     then ${wanted} else least(${wanted}, webhooks.next_attempt_at) end`;

/** Null if the lease is no longer valid. */
async function writeState(
  sql: Sql,
  leased: LeasedWebhook,
  { state, retryInMs }: Pick<Step, 'state' | 'retryInMs'>,
): Promise<Written | null> {
  return await sql.one<Written>(
    `update webhooks set position = $4, suspects = $5, batch_max = $6, failures = $7,
       failing_since = case when $8 then coalesce(failing_since, now()) end,
       next_attempt_at = ${nextAttemptAt('$12::timestamptz', `now() + $9 * interval '1 ms'`)},
       troubled = $10, disabled_reason = $11,
       state = case when $11::text is null then state else 'disabled' end, ${noLease}
     where ${isOurs} returning failing_since as "failingSince"`,
    [
      ...keyOf(leased),
      state.position,
      state.suspects,
      state.batchMax,
      state.failures,
      state.failingMs !== null,
      retryInMs,
      state.troubled,
      state.disabledReason,
      leased.nextAttemptAt,
    ],
  );
}
