import type { AnswerOf, Match, RequestOf } from '@earshot/contract';
import type { Principal } from '../accounts/principal.ts';
import type { ReadCoverage } from '../coverage/read-coverage.ts';
import { explainMatch } from '../language/explain-match.ts';
import type { ParsedRules } from '../language/parsed-rules.ts';
import { noSuchRule } from '../rules/no-such-rule.ts';
import type { RuleStore } from '../rules/rule-store.ts';
import type { Bells } from '../runtime/bell.ts';
import { createBreather } from '../runtime/breather.ts';
import { Failure } from '../runtime/failure.ts';
import type { CursorScope, Cursors } from './cursor.ts';
import { matchIdOf } from './match-id.ts';
import type { MatchQuery, MatchReader, StoredMatch } from './match-reader.ts';

/** Behind every wake-up that may be lost stands a look at this interval. */
const lookAgainMs = 1_000;

export interface ListMatchesOptions {
  readonly reader: MatchReader;
  readonly rules: Pick<RuleStore, 'exists'>;
  readonly coverage: ReadCoverage;
  readonly parsedRules: ParsedRules;
  readonly cursors: Cursors;
  readonly bells: Bells;
}

type Request = RequestOf<'ListMatches'>;

/** One page of the match log in either direction; with `wait_seconds` it waits for the first one to come. */
export function createListMatches(options: ListMatchesOptions) {
  const { rules, cursors, coverage } = options;
  return async (
    principal: Principal,
    request: Request,
    signal: AbortSignal,
  ): Promise<AnswerOf<'ListMatches'>> => {
    const { accountId } = principal;
    const ruleId = request.rule_id ?? null;
    const platform = request.platform ?? null;
    if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw noSuchRule();
    const scope = scopeOf(accountId, request);
    const place = request.cursor === undefined ? null : openPlace(cursors.open(scope, request.cursor));
    const from = place?.position ?? null;
    const query: MatchQuery = {
      accountId,
      ruleId,
      platform,
      since: request.since === undefined ? null : new Date(request.since),
      until: request.until === undefined ? null : new Date(request.until),
      order: request.order,
      from,
      limit: request.limit,
    };
    if (place && request.order === 'oldest') await refuseWhatIsRemoved(options, query, scope, place);
    const matches = await readOrWait(options, query, { waitMs: (request.wait_seconds ?? 0) * 1_000, signal });
    const last = matches.at(-1)?.position ?? from ?? 0;
    const more = request.order === 'oldest' || matches.length === request.limit;
    return {
      matches: await toMatches(options.parsedRules, matches),
      next_cursor: more ? cursors.seal(scope, sealPlace(last, place?.knownRemoved ?? 0)) : null,
      coverage: ruleId === null && platform === null ? null : await coverage({ accountId, ruleId, platform }),
    };
  };
}

/**
 * Where a follower is, and up to which position it knows that retention has removed some: it is told once, and then goes
 * on from where it was, so that it misses nothing that is still there.
 */
interface Place {
  readonly position: number;
  readonly knownRemoved: number;
}

function openPlace(text: string): Place {
  const [position = 0, knownRemoved = 0] = text.split(':').map(Number);
  return { position, knownRemoved };
}

function sealPlace(position: number, knownRemoved: number): string {
  return knownRemoved > position ? `${position}:${knownRemoved}` : `${position}`;
}

async function refuseWhatIsRemoved(
  { reader, cursors }: ListMatchesOptions,
  query: MatchQuery,
  scope: CursorScope,
  place: Place,
): Promise<void> {
  const removed = await reader.removedThrough(query);
  if (removed <= Math.max(place.position, place.knownRemoved)) return;
  throw new Failure(
    'out_of_range',
    'The cursor is older than the retention period. Continue from details.oldest_cursor.',
    { details: { oldest_cursor: cursors.seal(scope, sealPlace(place.position, removed)) } },
  );
}

function scopeOf(accountId: string, request: Request): CursorScope {
  const { rule_id, platform, since, until, order } = request;
  return {
    accountId,
    filter: ['matches', rule_id ?? null, platform ?? null, since ?? null, until ?? null, order],
  };
}

async function readOrWait(
  { reader, bells }: ListMatchesOptions,
  query: MatchQuery,
  { waitMs, signal }: { waitMs: number; signal: AbortSignal },
): Promise<StoredMatch[]> {
  if (waitMs === 0) return await reader.read(query);
  using bell = bells.listen('matches');
  const deadline = performance.now() + waitMs;
  for (;;) {
    const matches = await reader.read(query);
    const leftMs = deadline - performance.now();
    if (matches.length > 0 || leftMs <= 0 || signal.aborted) return matches;
    await bell.wait(Math.min(lookAgainMs, leftMs), signal);
  }
}

/** A long page under a rule of hundreds of clauses takes tens of milliseconds to explain. */
async function toMatches(parsedRules: ParsedRules, stored: readonly StoredMatch[]): Promise<Match[]> {
  const breathe = createBreather();
  const matches: Match[] = [];
  for (const match of stored) {
    matches.push(toMatch(parsedRules, match));
    await breathe();
  }
  return matches;
}

export function toMatch(parsedRules: ParsedRules, match: StoredMatch): Match {
  const { platform, ruleValue, payload } = match;
  return {
    id: matchIdOf(match.position),
    rule_id: match.ruleId,
    rule_version: match.ruleVersion,
    created_at: match.createdAt.toISOString(),
    platform,
    platform_post_id: match.platformPostId,
    via: match.via,
    payload,
    why: explainMatch(parsedRules, { platform, value: ruleValue, raw: payload.raw }),
  };
}
