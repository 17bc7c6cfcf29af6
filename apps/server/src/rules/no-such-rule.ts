import { Failure } from '../runtime/failure.ts';

/** The same answer, to the byte, for an unknown id, a deleted rule and another account's rule (I7). */
export function noSuchRule(): Failure {
  return new Failure('not_found', 'There is no such rule: list your rules to see the ids that exist.');
}
