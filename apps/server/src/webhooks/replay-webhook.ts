import type { AnswerOf } from '@earshot/contract';
import type { Handler } from '../accounts/call.ts';
import { type Change, recordChange } from '../accounts/change.ts';
import type { Database } from '../engines/database.ts';
import type { MatchReader } from '../readers/match-reader.sql.ts';
import { badField } from '../runtime/failure.ts';
import { matchIdOf, positionOf } from '../runtime/ids.ts';
import { noSuchWebhook } from './refusals.ts';
import { discardBatch, findWebhook, startOver } from './webhooks.sql.ts';

/** Finds the first match to send again and moves the webhook back to just before it. */
export function replayWebhook(options: {
  readonly database: Database;
  readonly reader: MatchReader;
}): Handler<'ReplayWebhook'> {
  const { database, reader } = options;
  return async ({ principal: { accountId }, request: { webhook_id, from, from_match_id }, change }) => {
    const target = await findWebhook(database, accountId, webhook_id);
    if (!target) throw noSuchWebhook();
    const {
      matches: [first],
    } = await reader.read({
      accountId,
      ruleIds: target.ruleIds,
      platform: target.platform,
      since: from === undefined ? null : new Date(from),
      until: null,
      order: 'oldest',
      from: from_match_id === undefined ? null : positionBefore(from_match_id),
      limit: 1,
    });
    if (first === undefined) return { webhook_id, from_match_id: null };
    const answer = { webhook_id, from_match_id: matchIdOf(first.position) };
    if (!(await setBack(database, change, first.position - 1, answer))) throw noSuchWebhook();
    return answer;
  };
}

/** Sends everything after the position again; never moves forward. False if the webhook does not exist. */
export async function setBack(
  database: Database,
  change: Change,
  position: number,
  answer: AnswerOf<'ReplayWebhook'>,
): Promise<boolean> {
  const { webhook_id: id } = answer;
  return await database.forAccount(change.accountId).transaction(async (sql) => {
    const row = await sql.one(
      `update webhooks set ${startOver}, position = least(position, $3), stories_from = least(position, $3), next_attempt_at = now(), failures = 0
       where account_id = $1 and id = $2 returning id`,
      [change.accountId, id, position],
    );
    if (!row) return false;
    await discardBatch(sql, id);
    await recordChange(sql, change, { targetId: id, before: null, after: answer, answer });
    return true;
  });
}

function positionBefore(matchId: string): number {
  const position = positionOf(matchId);
  if (position !== null) return position - 1;
  throw badField('from_match_id', 'Must be the id of a match.');
}
