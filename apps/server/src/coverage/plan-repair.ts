import type { PostSearch } from '../upstream/platform.ts';
import type { AffectedSlot, PlannedRepair } from './repair-store.sql.ts';

/**
 * Whether a search can fill a gap for a slot. One query per slot: several in one would save calls, but then nobody but us
 * could say which rule a post matched, and that is the platform's verdict (I5).
 */
export function planRepair(
  search: Pick<PostSearch, 'reachesBackMs' | 'fidelityOf'>,
  { slotId, value }: AffectedSlot,
  gapAgeMs: number,
): PlannedRepair {
  const impossible = (because: string) =>
    ({ slotId, state: 'impossible', because, fidelity: [] }) satisfies PlannedRepair;
  if (gapAgeMs > search.reachesBackMs) return impossible('too_old_to_search');
  const found = search.fidelityOf(value);
  if (!found.searchable) return impossible(found.because);
  return { slotId, state: 'waiting', because: null, fidelity: found.fidelity };
}
