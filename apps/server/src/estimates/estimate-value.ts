import type { CoverageStore } from '../coverage/coverage-store.sql.ts';
import { Failure } from '../runtime/failure.ts';
import type { RuleValue } from '../slots/slot-holding.sql.ts';
import type { UpstreamSettings } from '../upstream/platforms.ts';
import { type CountItemsOptions, countItems, type NotCounted } from './count-items.ts';
import { noneSeen, type SeenMatches } from './estimate.ts';
import { type Basis, fromHistory, fromTrial } from './estimate-volume.ts';
import { readHistory } from './rule-history.sql.ts';
import { readTrial } from './trials.sql.ts';

export interface EstimateValueOptions extends CountItemsOptions {
  readonly config: UpstreamSettings;
  readonly coverage: CoverageStore;
}

interface ValueQuery {
  readonly accountId: string;
  readonly value: RuleValue;
  readonly since: Date;
  readonly nowMs: number;
}

/** What is known about a query, apart from the account's stored items. */
export interface QueryKnowledge {
  /** From the history of the same query, or else from the platform's counts or a trial. The reason if there is none. */
  readonly basis: Basis | NotCounted;
  readonly seen: SeenMatches;
}

export async function readKnowledge(
  options: EstimateValueOptions,
  query: ValueQuery,
): Promise<QueryKnowledge> {
  const history = await readHistory(options.database, query, query.nowMs).catch(orNull);
  const seen = history?.seen ?? noneSeen;
  if (history?.series) return { basis: fromHistory(history.series), seen };
  const counted = await countItems(options, query);
  if ('basis' in counted) return { basis: counted, seen };
  const trial = await readTrial(options, query).catch(orNull);
  return { basis: trial ? fromTrial(trial) : counted, seen };
}

/** A basis that cannot be read in time counts as unknown. */
function orNull(error: unknown): null {
  if (error instanceof Failure && error.code === 'unavailable') return null;
  throw error;
}
