import { Failure } from '../runtime/failure.ts';
import type { BeginOutcome } from './rule-store.ts';

export type PlacementRefusal = Exclude<BeginOutcome, { kind: 'begun' | 'created' }>;

/** Why there is no place for a rule, in the words of the API. */
export function placementRefusal(outcome: PlacementRefusal, limit: number, contact: string): Failure {
  switch (outcome.kind) {
    case 'premium_limit':
      return new Failure(
        'resource_exhausted',
        `The account has ${outcome.used} of ${limit} rules on "x": delete one, or ask ${contact} for more.`,
        { details: { limit, used: outcome.used, platform: 'x', contact } },
      );
    case 'no_source':
      return new Failure(
        'unavailable',
        `This installation has no credential for "${outcome.platform}": its operator has to configure one.`,
        { details: { platform: outcome.platform }, retryAfterSeconds: 60 },
      );
    case 'sources_full':
      return new Failure(
        'resource_exhausted',
        `All ${outcome.capacity} upstream rules of "${outcome.platform}" are in use: ask ${contact} for more.`,
        {
          details: { limit: outcome.capacity, used: outcome.capacity, platform: outcome.platform, contact },
        },
      );
  }
}
