import type { Handler } from '../accounts/call.ts';
import type { ParsedRules } from '../language/explain-match.ts';
import { noSuchMatch } from '../relevance/relevance.sql.ts';
import { positionOf } from '../runtime/ids.ts';
import type { MatchReader, StoredMatch } from './match-reader.sql.ts';
import { toMatch } from './to-match.ts';
import { markOne, type Views } from './views.ts';

export interface GetMatchOptions {
  readonly reader: Pick<MatchReader, 'read'>;
  readonly parsedRules: ParsedRules;
  readonly views: Pick<Views, 'view'>;
}

/** One match by its id, which is its position in the log. */
export function getMatch({ reader, parsedRules, views }: GetMatchOptions): Handler<'GetMatch'> {
  return async ({ principal: { accountId }, request }) => {
    const position = positionOf(request.match_id);
    const match = position === null ? null : await readAt(reader, accountId, position);
    if (match === null) throw noSuchMatch();
    return await markOne(views, accountId, toMatch(parsedRules, match));
  };
}

async function readAt(
  reader: Pick<MatchReader, 'read'>,
  accountId: string,
  position: number,
): Promise<StoredMatch | null> {
  const { matches } = await reader.read({
    accountId,
    ruleIds: null,
    platform: null,
    since: null,
    until: null,
    order: 'newest',
    from: position + 1,
    limit: 1,
  });
  return matches.find((found) => found.position === position) ?? null;
}
