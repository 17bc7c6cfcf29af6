import type { Handler } from '../accounts/call.ts';
import type { MatchReader } from '../readers/match-reader.sql.ts';
import { matchIdOf, positionOf } from '../readers/to-match.ts';
import { Failure } from '../runtime/failure.ts';
import { noSuchWebhook } from './refusals.ts';
import type { WebhookStore } from './webhook-store.sql.ts';

/** Finds the first match that is to be sent again and moves the webhook back to just before it. */
export function replayWebhook(options: {
  readonly store: Pick<WebhookStore, 'find' | 'setBack'>;
  readonly reader: MatchReader;
}): Handler<'ReplayWebhook'> {
  const { store, reader } = options;
  return async ({ principal: { accountId }, request: { webhook_id, since, from_match_id }, change }) => {
    const target = await store.find(accountId, webhook_id);
    if (!target) throw noSuchWebhook();
    const [first] = await reader.read({
      accountId,
      ruleId: target.ruleId,
      platform: target.platform,
      since: since === undefined ? null : new Date(since),
      until: null,
      order: 'oldest',
      from: from_match_id === undefined ? null : positionBefore(from_match_id),
      limit: 1,
    });
    if (first === undefined) return { webhook_id, from_match_id: null };
    const answer = { webhook_id, from_match_id: matchIdOf(first.position) };
    if (!(await store.setBack(change, webhook_id, first.position - 1, answer))) throw noSuchWebhook();
    return answer;
  };
}

function positionBefore(matchId: string): number {
  const position = positionOf(matchId);
  if (position !== null) return position - 1;
  const message = 'Not an id of a match.';
  throw new Failure('invalid_argument', `from_match_id: ${message}`, {
    details: { violations: [{ field: 'from_match_id', code: 'invalid_value', message }] },
  });
}
