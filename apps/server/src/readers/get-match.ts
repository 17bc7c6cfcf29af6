import type { Handler } from '../accounts/call.ts';
import type { ParsedRules } from '../language/explain-match.ts';
import { Failure } from '../runtime/failure.ts';
import { positionOf } from '../runtime/ids.ts';
import type { MatchReader, StoredMatch } from './match-reader.sql.ts';
import { toMatch } from './to-match.ts';

export interface GetMatchOptions {
  readonly reader: Pick<MatchReader, 'read'>;
  readonly parsedRules: ParsedRules;
}

/** One match by its id, which is its position in the log. */
export function getMatch({ reader, parsedRules }: GetMatchOptions): Handler<'GetMatch'> {
  return async ({ principal: { accountId }, request }) => {
    const position = positionOf(request.match_id);
    const match = position === null ? null : await readAt(reader, accountId, position);
    if (match === null) throw noSuchMatch();
    return toMatch(parsedRules, match);
  };
}

async function readAt(
  reader: Pick<MatchReader, 'read'>,
  accountId: string,
  position: number,
): Promise<StoredMatch | null> {
  const { matches } = await reader.read({
    accountId,
    ruleId: null,
    platform: null,
    since: null,
    until: null,
    order: 'newest',
    from: position + 1,
    limit: 1,
  });
  return matches.find((found) => found.position === position) ?? null;
}

/** The same answer, to the byte, for an unknown id, a removed match and another account's match (I7). */
function noSuchMatch(): Failure {
  return new Failure(
    'not_found',
    'The match does not exist: it was removed, or is no longer stored. List your matches to see their ids.',
  );
}
