import type { RequestOf } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import { lockAccount, recordChange } from '../accounts/change.ts';
import type { Database, Sql } from '../engines/database.ts';
import { refuseUnknownRules } from '../rules/refusals.ts';
import { badField, Failure } from '../runtime/failure.ts';
import { newId } from '../runtime/ids.ts';
import type { UrlProblem } from '../webhooks/public-address.ts';
import { noSecretsKey } from '../webhooks/refusals.ts';
import type { SecretBox } from '../webhooks/secrets.ts';
import { type ArchiveRow, settingsOf, shown, toArchive } from './archives.sql.ts';

/** Of one account. */
const archivesMax = 5;

export interface CreateArchiveOptions {
  readonly database: Database;
  readonly urlProblem: UrlProblem;
  /** Null if the operator has not configured a key for secrets. */
  readonly secretBox: SecretBox | null;
  readonly contact: string;
}

/** The archive begins at the end of the match log. */
export function createArchive(options: CreateArchiveOptions): Handler<'CreateArchive'> {
  const { database, urlProblem, secretBox, contact } = options;
  return async ({ principal: { accountId }, request, change }) => {
    if (secretBox === null) throw noSecretsKey(contact);
    const endpoint = readEndpoint(request.endpoint, urlProblem);
    const { name, region, bucket, prefix, access_key_id, secret_access_key, format } = request;
    const ruleIds = request.rule_ids ?? null;
    const id = newId('arc');
    const secret = secretBox.seal(id, secret_access_key);
    return await database.forAccount(accountId).transaction(async (sql) => {
      await lockAccount(sql, accountId);
      await refuseUnknownRules(sql, accountId, ruleIds ?? []);
      await refuseTaken(sql, accountId, { ...request, endpoint });
      await refuseTooMany(sql, accountId, contact);
      const row = await sql.one<ArchiveRow>(
        `insert into archives (id, account_id, name, endpoint, region, bucket, prefix, access_key_id, secret, format, rule_ids,
           position, covered_until, next_attempt_at)
         select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, last_position, date_trunc('hour', now(), 'UTC'), now() from match_log
         returning ${shown}`,
        [id, accountId, name, endpoint, region, bucket, prefix, access_key_id, secret, format, ruleIds],
      );
      if (!row) throw new Error('there is no match log');
      const answer = toArchive(row);
      await recordChange(sql, change, { targetId: id, before: null, after: settingsOf(row), answer });
      return answer;
    });
  };
}

/** An origin: objects are addressed by path. */
function readEndpoint(text: string, urlProblem: UrlProblem): string {
  const problem = urlProblem(text);
  if (problem !== null) throw badField('endpoint', problem);
  const { origin, href } = new URL(text);
  if (href !== `${origin}/`) throw badField('endpoint', 'Must be an address without a path.');
  return origin;
}

async function refuseTaken(
  sql: Sql,
  accountId: string,
  { name, endpoint, bucket, prefix }: RequestOf<'CreateArchive'>,
): Promise<void> {
  const taken = await sql.one<{ name: string }>(
    `select name from archives where account_id = $1 and (name = $2 or endpoint = $3 and bucket = $4 and prefix = $5) limit 1`,
    [accountId, name, endpoint, bucket, prefix],
  );
  if (!taken) return;
  const message =
    taken.name === name
      ? `The name ${JSON.stringify(name)} is in use. Choose another name.`
      : `The archive ${JSON.stringify(taken.name)} writes to the same prefix of this bucket. Choose another prefix.`;
  throw new Failure('already_exists', message);
}

async function refuseTooMany(sql: Sql, accountId: string, contact: string): Promise<void> {
  const count = await sql.one<{ used: number }>(
    'select count(*) as used from archives where account_id = $1',
    [accountId],
  );
  const used = count?.used ?? 0;
  if (used < archivesMax) return;
  throw new Failure('resource_exhausted', `The account has ${used} of ${archivesMax} archives. Delete one.`, {
    details: { reason: 'plan_limit', limit: archivesMax, used, contact },
  });
}
