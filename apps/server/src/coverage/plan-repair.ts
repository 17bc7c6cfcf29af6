import { searchability } from '@earshot/query';
import type { AffectedSlot, PlannedRepair } from './repair-store.sql.ts';

/** How far back recent search reaches. */
const searchableForMs = 7 * 24 * 3_600_000;

/**
 * What a search brings back of a value, in comparison with the stream. One query per slot: several in one would save
 * calls, but then nobody but us could say which rule a post matched, and that is the platform's verdict (I5).
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
