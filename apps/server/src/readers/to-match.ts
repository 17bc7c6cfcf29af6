import type { HiddenMatches, Match, Platform, Removal } from '@earshot/contract';
import { explainMatch, type ParsedRules } from '../language/explain-match.ts';
import { createTurns } from '../runtime/concurrency.ts';
import { matchIdOf } from '../runtime/ids.ts';
import type { MatchPage, StoredMatch, StoredRemoval } from './match-reader.sql.ts';

/** A match in the form of the API, with its position in the log. */
export interface MatchEntry {
  readonly position: number;
  readonly match: Match;
  /** See `jsonOf`. */
  json?: string;
}

/** The removal of an earlier match, at a separate position. */
export interface RemovalEntry {
  readonly position: number;
  readonly platform: Platform;
  readonly removal: Removal;
}

export type LogEntry = MatchEntry | RemovalEntry;

/** The form of answers. Without removals or hidden matches, the field is omitted. */
export function toAnswer(
  followed: readonly LogEntry[],
  hidden: HiddenMatches,
): { matches: Match[]; removed?: Removal[]; hidden?: HiddenMatches } {
  const matches = followed.flatMap((one) => ('match' in one ? [one.match] : []));
  const removed = followed.flatMap((one) => ('removal' in one ? [one.removal] : []));
  return {
    matches,
    ...(removed.length > 0 && { removed }),
    ...(totalOf(hidden) > 0 && { hidden }),
  };
}

export function totalOf({ muted, not_relevant, in_story = 0 }: HiddenMatches): number {
  return muted + not_relevant + in_story;
}

export function toRemovalEntry({ position, platform, ...removed }: StoredRemoval): RemovalEntry {
  return { position, platform, removal: toRemoval(removed) };
}

function toRemoval(removed: Pick<StoredRemoval, 'matchPosition' | 'reason' | 'at'>): Removal {
  const { matchPosition, reason, at } = removed;
  return { type: 'removed', match_id: matchIdOf(matchPosition), reason, removed_at: at.toISOString() };
}

/** Explaining a long page under a rule of hundreds of clauses takes tens of milliseconds. */
export async function toEntries(
  parsedRules: ParsedRules,
  stored: readonly StoredMatch[],
  nextTurn: () => Promise<void> | undefined = createTurns(),
): Promise<MatchEntry[]> {
  const matches: MatchEntry[] = [];
  for (const match of stored) {
    const turn = nextTurn();
    if (turn) await turn;
    matches.push({ position: match.position, match: toMatch(parsedRules, match) });
  }
  return matches;
}

/** A page in its own order. Removals occur only in the order of the log. */
export async function toLog(
  parsedRules: ParsedRules,
  { matches, removals }: Pick<MatchPage, 'matches' | 'removals'>,
): Promise<LogEntry[]> {
  const entries = await toEntries(parsedRules, matches);
  if (removals.length === 0) return entries;
  return [...entries, ...removals.map(toRemovalEntry)].toSorted(
    (one, other) => one.position - other.position,
  );
}

export function toMatch(parsedRules: ParsedRules, match: StoredMatch): Match {
  const { platform, ruleValue, payload } = match;
  return {
    ...toFacts(match),
    why: explainMatch(parsedRules, { platform, value: ruleValue, raw: payload.raw }),
  };
}

/** The match without its explanation, which takes most of the time. */
export function toFacts(match: StoredMatch): Omit<Match, 'why'> {
  return {
    id: matchIdOf(match.position),
    rule_id: match.ruleId,
    rule_version: match.ruleVersion,
    created_at: match.createdAt.toISOString(),
    platform: match.platform,
    platform_post_id: match.platformPostId,
    via: match.via,
    payload: match.payload,
  };
}

/** Encoded once per match, however many readers get it. */
export function jsonOf(followed: MatchEntry): string {
  followed.json ??= JSON.stringify(followed.match);
  return followed.json;
}
