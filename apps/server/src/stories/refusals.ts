import { Failure } from '../runtime/failure.ts';

/** The same answer for an unknown id, another account's story and one whose matches were removed (I7). */
export function noSuchStory(): Failure {
  return new Failure(
    'not_found',
    'The story does not exist: its matches were removed, or are no longer stored. List your matches with "group": "story" to see ids.',
  );
}
