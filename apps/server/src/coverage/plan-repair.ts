import { searchability } from '@earshot/query';
import type { AffectedSlot, PlannedRepair } from './repair-store.sql.ts';

/** How far back recent search reaches. */
const searchableForMs = 7 * 24 * 3_600_000;

/**
 * What a search finds for a value, compared with the stream. One query per slot: several in one would save calls, but
 * then our own evaluator would have to decide which rule a post matched, and that is the platform's decision (I5).
 */
export function planRepair({ slotId, value }: AffectedSlot, gapAgeMs: number): PlannedRepair {
  const impossible = (because: string) =>
    ({ slotId, state: 'impossible', because, fidelity: [] }) satisfies PlannedRepair;
  if (gapAgeMs > searchableForMs) return impossible('too_old_to_search');
  const verdict = searchability(value);
  if (!verdict.searchable) {
    return impossible(
      verdict.operator === null ? 'value_too_long_to_search' : `no_search_for_${verdict.operator}`,
    );
  }
  const ofWords = verdict.hasWords ? ['retweets_missing', 'quoted_text_not_searched', 'accents_ignored'] : [];
  return { slotId, state: 'waiting', because: null, fidelity: [...ofWords, 'deleted_posts_missing'] };
}
