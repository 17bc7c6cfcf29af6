import { Failure } from '../runtime/failure.ts';
import type { RuleValue } from '../slots/slot-holding.sql.ts';
import type { UpstreamSettings } from '../upstream/platforms.ts';
import { type CountItemsOptions, countItems, type NotCounted } from './count-items.ts';
import { type Basis, fromHistory } from './estimate-volume.ts';
import { readHistory } from './rule-history.sql.ts';

export interface EstimateValueOptions extends CountItemsOptions {
  readonly config: UpstreamSettings;
}

interface AskedValue {
  readonly accountId: string;
  readonly value: RuleValue;
  readonly since: Date;
  readonly nowMs: number;
}

/** What the same value brought, or else what the platform counts; why not, where neither is known. */
export async function betterBasis(
  options: CountItemsOptions,
  asked: AskedValue,
): Promise<Basis | NotCounted> {
  const history = await readHistory(options.database, asked, asked.nowMs).catch(orNull);
  return history ? fromHistory(history) : await countItems(options, asked);
}

/** What cannot be read in time is not known. */
function orNull(error: unknown): null {
  if (error instanceof Failure && error.code === 'unavailable') return null;
  throw error;
}
