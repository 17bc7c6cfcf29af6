import type { JsonObject } from '../http/json.ts';
import { cutExcerpt } from './excerpt.ts';
import type { Organization } from './organization.ts';
import type { FirehosePage } from './page.ts';
import { toEventId } from './replay-buffer.ts';
import type { FirehoseRule, Tap } from './tap.ts';

const weekMs = 7 * 24 * 3_600_000;

/**
 * Appends one event to every active tap with a matching rule and sends it to the open streams. The envelope is that
 * of the current service (firehose.md §7.1), or with the single `query_id` of the beta.
 */
export function publishPage(page: FirehosePage, organization: Organization) {
  const events: Array<{ token: string; eventId: string; queryIds: string[] }> = [];
  const matchedAt = new Date(page.matchedAtMs).toISOString().replace('Z', '000Z');
  for (const tap of organization.taps.values()) {
    const rules = tap.status === 'active' ? matchingRules(tap, page) : [];
    if (rules.length === 0) continue;
    const queryIds = rules.map(({ id }) => id);
    const named =
      organization.knobs.ruleIds === 'query_ids' ? { query_ids: queryIds } : { query_id: queryIds[0] };
    const document = toDocument(page, rules, organization.excerptChars);
    const event = tap.buffer.append({
      matchedAtMs: page.matchedAtMs,
      data: JSON.stringify({ tap_id: tap.id, ...named, matched_at: matchedAt, document }),
      chargeKey: page.chargeKey,
    });
    events.push({ token: tap.token, eventId: toEventId(event.offset), queryIds });
    for (const connection of tap.connections) connection.pump();
  }
  return events;
}

function matchingRules(tap: Tap, page: FirehosePage): FirehoseRule[] {
  const hits = new Set(tap.index.matching(page));
  return [...tap.rules.values(), ...tap.lingering.values()].filter(
    (rule) => hits.has(rule.id) && flagsAllow(rule, page),
  );
}

/** The flags of firehose.md §9; a page without a publish time fails the quality check. */
function flagsAllow({ nsfw, quality }: FirehoseRule, page: FirehosePage): boolean {
  if (page.isNsfw && !nsfw) return false;
  if (!quality) return true;
  const { publishedAtMs, matchedAtMs, url } = page;
  const isFresh = publishedAtMs !== undefined && publishedAtMs >= matchedAtMs - weekMs;
  const { pathname, search } = new URL(url);
  return isFresh && search === '' && !/\/(page\/[0-9]+|tag\/|category\/)/.test(pathname);
}

function toDocument(page: FirehosePage, rules: FirehoseRule[], excerptChars: number | undefined): JsonObject {
  if (excerptChars === undefined) return page.wire;
  const { diff: _whole, ...rest } = page.wire;
  const chunks = cutExcerpt(page, rules, excerptChars);
  return chunks.length > 0 ? { ...rest, diff: { chunks } } : rest;
}
