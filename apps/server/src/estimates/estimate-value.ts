import type { CoverageStore } from '../coverage/coverage-store.sql.ts';
import { Failure } from '../runtime/failure.ts';
import type { RuleValue } from '../slots/slot-holding.sql.ts';
import type { UpstreamSettings } from '../upstream/platforms.ts';
import { type CountItemsOptions, countItems, type NotCounted } from './count-items.ts';
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

/** A basis from the history of the same query, or else from the platform's counts or a trial. The reason if there is none. */
export async function betterBasis(
  options: EstimateValueOptions,
  query: ValueQuery,
): Promise<Basis | NotCounted> {
  const history = await readHistory(options.database, query, query.nowMs).catch(orNull);
  if (history) return fromHistory(history);
  const counted = await countItems(options, query);
  if ('basis' in counted) return counted;
  const trial = await readTrial(options, query).catch(orNull);
  return trial ? fromTrial(trial) : counted;
}

/** A basis that cannot be read in time counts as unknown. */
function orNull(error: unknown): null {
  if (error instanceof Failure && error.code === 'unavailable') return null;
  throw error;
}
