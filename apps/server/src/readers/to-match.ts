import type { Match } from '@earshot/contract';
import { explainMatch } from '../language/explain-match.ts';
import type { ParsedRules } from '../language/parsed-rules.ts';
import { createEventLoopYield } from '../runtime/concurrency.ts';
import { matchIdOf } from './match-id.ts';
import type { StoredMatch } from './match-reader.ts';

/** A match as callers see it, with its place in the log. */
export interface FollowedMatch {
  readonly position: number;
  readonly match: Match;
}

/** A long page under a rule of hundreds of clauses takes tens of milliseconds to explain. */
export async function toFollowed(
  parsedRules: ParsedRules,
  stored: readonly StoredMatch[],
): Promise<FollowedMatch[]> {
  const yieldIfDue = createEventLoopYield();
  const matches: FollowedMatch[] = [];
  for (const match of stored) {
    matches.push({ position: match.position, match: toMatch(parsedRules, match) });
    await yieldIfDue();
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

const texts = new WeakMap<Match, string>();

/** Made once per match, however many readers get it. */
export function jsonOf(match: Match): string {
  const known = texts.get(match);
  if (known !== undefined) return known;
  const text = JSON.stringify(match);
  texts.set(match, text);
  return text;
}
