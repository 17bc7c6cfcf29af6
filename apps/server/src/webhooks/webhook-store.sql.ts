import type { AnswerOf, Platform, Webhook } from '@earshot/contract';
import { type Change, recordChange } from '../accounts/change.ts';
import type { Database, Sql } from '../engines/database.ts';
import { batchMatchesMax } from './endpoint-state.ts';

interface NewWebhook {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly ruleId: string | null;
  readonly platform: Platform | null;
  readonly sealedSecret: Buffer;
}

/** What the owner changes; absent fields stay as they are. */
export interface WebhookChanges {
  readonly name?: string;
  readonly url?: string;
  readonly ruleId?: string | null;
  readonly platform?: Platform | null;
  readonly state?: 'active' | 'paused';
}

type CreateWebhookOutcome =
  | { readonly kind: 'created'; readonly answer: AnswerOf<'CreateWebhook'> }
  | { readonly kind: 'limit'; readonly used: number }
  | { readonly kind: 'name_taken' };

type UpdateWebhookOutcome =
  | { readonly kind: 'updated'; readonly webhook: Webhook }
  | { readonly kind: 'not_found' }
  | { readonly kind: 'name_taken' };

/** What is needed to send to a webhook, or to read the matches that it receives. */
interface WebhookTarget {
  readonly webhookId: string;
  readonly url: string;
  readonly ruleId: string | null;
  readonly platform: Platform | null;
  readonly secrets: readonly Buffer[];
}

const previousSecretHours = 24;
const shown = `id, name, url, rule_id, platform, state, disabled_because, failing_since, failures, next_attempt_at,
  created_at, updated_at`;

interface WebhookRow {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly rule_id: string | null;
  readonly platform: Platform | null;
  readonly state: Webhook['state'];
  readonly disabled_because: Webhook['disabled_because'];
  readonly failing_since: Date | null;
  readonly failures: number;
  readonly next_attempt_at: Date;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export type WebhookStore = ReturnType<typeof createWebhookStore>;

/** Every call names the account: another account's webhook is like one that does not exist (I7). */
export function createWebhookStore(database: Database) {
  return {
    /** Starts at the end of the match log. */
    create: (change: Change, webhook: NewWebhook, webhooksMax: number) =>
      database.forAccount(change.accountId).transaction((sql) => create(sql, change, webhook, webhooksMax)),
    async list(accountId: string): Promise<Webhook[]> {
      const rows = await database
        .forAccount(accountId)
        .many<WebhookRow>(`select ${shown} from webhooks where account_id = $1 order by id desc`, [
          accountId,
        ]);
      return rows.map(toWebhook);
    },
    find: (accountId: string, webhookId: string) => find(database, accountId, webhookId),
    update: (change: Change, webhookId: string, changes: WebhookChanges) =>
      database.forAccount(change.accountId).transaction((sql) => update(sql, change, webhookId, changes)),
    remove: (change: Change, webhookId: string) =>
      database.forAccount(change.accountId).transaction((sql) => remove(sql, change, webhookId)),
    /** The present secret stays valid beside the new one for 24 hours. */
    rotate: (change: Change, webhookId: string, sealedSecret: Buffer) =>
      database
        .forAccount(change.accountId)
        .transaction((sql) => rotate(sql, change, webhookId, sealedSecret)),
    /** Everything after the position is sent again; never moves forward. */
    setBack: (change: Change, webhookId: string, position: number, answer: AnswerOf<'ReplayWebhook'>) =>
      database.forAccount(change.accountId).transaction(async (sql) => {
        const row = await sql.one(
          `update webhooks set ${startOver}, position = least(position, $3), next_attempt_at = now(), failures = 0
           where account_id = $1 and id = $2 returning id`,
          [change.accountId, webhookId, position],
        );
        if (!row) return false;
        await sql.run('delete from webhook_batches where webhook_id = $1', [webhookId]);
        await recordChange(sql, change, { targetId: webhookId, before: null, after: answer, answer });
        return true;
      }),
  };
}

/** A delivery that is under way no longer counts, and the next batch is built anew. */
const startOver = `epoch = epoch + 1, suspects = '{}', batch_max = ${batchMatchesMax}`;

async function find(database: Database, accountId: string, webhookId: string): Promise<WebhookTarget | null> {
  const row = await database.forAccount(accountId).one<WebhookRow & { secrets: Buffer[] }>(
    `select id, url, rule_id, platform,
       array_remove(array[secret, case when previous_secret_until > now() then previous_secret end], null) as secrets
     from webhooks where account_id = $1 and id = $2`,
    [accountId, webhookId],
  );
  if (!row) return null;
  return { webhookId, url: row.url, ruleId: row.rule_id, platform: row.platform, secrets: row.secrets };
}

/** Counted and named under the account's row lock, so that two requests cannot both create the last one. */
async function create(
  sql: Sql,
  change: Change,
  webhook: NewWebhook,
  webhooksMax: number,
): Promise<CreateWebhookOutcome> {
  const { accountId } = change;
  await sql.one('select 1 from accounts where id = $1 for update', [accountId]);
  const count = await sql.one<{ used: number; taken: boolean }>(
    `select count(*) as used, coalesce(bool_or(name = $2), false) as taken from webhooks where account_id = $1`,
    [accountId, webhook.name],
  );
  if (count?.taken) return { kind: 'name_taken' };
  const used = count?.used ?? 0;
  if (used >= webhooksMax) return { kind: 'limit', used };
  const row = await sql.one<WebhookRow>(
    `insert into webhooks (id, account_id, name, url, rule_id, platform, secret, state, batch_max, next_attempt_at, position)
     select $1, $2, $3, $4, $5, $6, $7, 'active', $8, now(), last_position from match_log
     returning ${shown}`,
    [
      webhook.id,
      accountId,
      webhook.name,
      webhook.url,
      webhook.ruleId,
      webhook.platform,
      webhook.sealedSecret,
      batchMatchesMax,
    ],
  );
  if (!row) throw new Error('there is no match log');
  const answer = { webhook_id: webhook.id, secret: null, created_at: row.created_at.toISOString() };
  await recordChange(sql, change, { targetId: webhook.id, before: null, after: auditOf(row), answer });
  return { kind: 'created', answer };
}

/** A new filter discards the stored batch; after a new URL or a resumption the next attempt is made at once. */
async function update(
  sql: Sql,
  change: Change,
  webhookId: string,
  changes: WebhookChanges,
): Promise<UpdateWebhookOutcome> {
  const { accountId } = change;
  await sql.one('select 1 from accounts where id = $1 for update', [accountId]);
  const before = await sql.one<WebhookRow>(
    `select ${shown} from webhooks where account_id = $1 and id = $2 for update`,
    [accountId, webhookId],
  );
  if (!before) return { kind: 'not_found' };
  const next = {
    name: changes.name ?? before.name,
    url: changes.url ?? before.url,
    ruleId: changes.ruleId === undefined ? before.rule_id : changes.ruleId,
    platform: changes.platform === undefined ? before.platform : changes.platform,
    state: changes.state ?? before.state,
  };
  const namesake = await sql.one('select 1 from webhooks where account_id = $1 and name = $2 and id <> $3', [
    accountId,
    next.name,
    webhookId,
  ]);
  if (namesake) return { kind: 'name_taken' };
  const newFilter = next.ruleId !== before.rule_id || next.platform !== before.platform;
  const tryNow = next.url !== before.url || (next.state === 'active' && before.state !== 'active');
  const row = await sql.one<WebhookRow>(
    `update webhooks set name = $2, url = $3, rule_id = $4, platform = $5, state = $6, updated_at = now()
       ${newFilter ? `, ${startOver}` : ''}
       ${tryNow ? ', failures = 0, failing_since = null, troubled = false, next_attempt_at = now()' : ''}
       ${next.state === 'disabled' ? '' : ', disabled_because = null'}
     where id = $1 returning ${shown}`,
    [webhookId, next.name, next.url, next.ruleId, next.platform, next.state],
  );
  if (newFilter) await sql.run('delete from webhook_batches where webhook_id = $1', [webhookId]);
  const webhook = toWebhook(row ?? before);
  const after = auditOf(row ?? before);
  await recordChange(sql, change, { targetId: webhookId, before: auditOf(before), after, answer: webhook });
  return { kind: 'updated', webhook };
}

async function remove(sql: Sql, change: Change, webhookId: string) {
  const row = await sql.one<WebhookRow & { deleted_at: Date }>(
    `delete from webhooks where account_id = $1 and id = $2 returning ${shown}, now() as deleted_at`,
    [change.accountId, webhookId],
  );
  if (!row) return null;
  const answer = { webhook_id: webhookId, deleted_at: row.deleted_at.toISOString() };
  await recordChange(sql, change, { targetId: webhookId, before: auditOf(row), after: null, answer });
  return answer;
}

async function rotate(sql: Sql, change: Change, webhookId: string, sealedSecret: Buffer) {
  const row = await sql.one<{ until: Date }>(
    `update webhooks set previous_secret = secret, secret = $3, updated_at = now(),
       previous_secret_until = now() + interval '${previousSecretHours} hours'
     where account_id = $1 and id = $2 returning previous_secret_until as until`,
    [change.accountId, webhookId, sealedSecret],
  );
  if (!row) return null;
  const previous_valid_until = row.until.toISOString();
  const answer = { webhook_id: webhookId, secret: null, previous_valid_until };
  const after = { previous_valid_until };
  await recordChange(sql, change, { targetId: webhookId, before: null, after, answer });
  return answer;
}

/** For the audit: what the owner has set, without the secret. */
function auditOf({ name, url, rule_id, platform, state }: WebhookRow): object {
  return { name, url, rule_id, platform, state };
}

function toWebhook(row: WebhookRow): Webhook {
  const { failures, next_attempt_at, failing_since, created_at, updated_at, ...same } = row;
  const waits = row.state === 'active' && failures > 0;
  return {
    ...same,
    failing_since: failing_since?.toISOString() ?? null,
    next_attempt_at: waits ? next_attempt_at.toISOString() : null,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}
