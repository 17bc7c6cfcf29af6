import type { Match } from '@earshot/sdk';
import { formatCount } from '../../parts/format.ts';
import type { Filter, Hidden } from './feed-state.ts';

type Relevance = NonNullable<Match['relevance']>;

export const verdictNames: Readonly<Record<Relevance['verdict'], string>> = {
  relevant: 'relevant',
  not_relevant: 'not relevant',
  unsure: 'unsure',
  unjudged: 'not judged',
};

/** Such as `37 hidden: 30 muted, 7 not relevant.` Null if nothing is hidden. `isListed`: the list includes them. */
export function hiddenWords({ muted, not_relevant }: Hidden, isListed = false): string | null {
  if (muted + not_relevant === 0) return null;
  const parts = [
    ...(muted > 0 ? [`${formatCount(muted)} muted`] : []),
    ...(not_relevant > 0 ? [`${formatCount(not_relevant)} not relevant`] : []),
  ];
  const start = isListed ? 'Listed too' : `${formatCount(muted + not_relevant)} hidden`;
  return `${start}: ${parts.join(', ')}.`;
}

/** Who says whether the match is relevant. */
export function sourceWords({ verdict, by }: Relevance): string {
  if (verdict === 'unjudged') return 'The judge gave no verdict.';
  return `${by === 'label' ? 'Labelled' : 'The judge says:'} ${verdictNames[verdict]}.`;
}

/** Whether the list leaves out the match unless it shows hidden ones. */
export function isHiddenBy(
  filter: Filter['relevance'],
  { muted_by, relevance }: Pick<Match, 'muted_by' | 'relevance'>,
): boolean {
  if (muted_by !== undefined) return true;
  if (filter === undefined || filter === 'all' || !relevance) return false;
  return relevance.verdict === 'not_relevant' || (filter === 'relevant' && relevance.verdict === 'unsure');
}
