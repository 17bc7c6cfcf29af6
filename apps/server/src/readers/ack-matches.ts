import type { AnswerOf, RequestOf } from '@earshot/contract';
import type { Principal } from '../accounts/principal.ts';
import type { Cursors } from './cursor.ts';
import { noSuchReader } from './no-such-reader.ts';
import { openPlace, readPlace, scopeOfReader, writePlace } from './place.ts';
import type { ReaderStore } from './reader-store.ts';

/** Moves a named reader, forward only unless asked otherwise: an acknowledgement that comes late takes nothing back. */
export function createAckMatches({ store, cursors }: { store: Pick<ReaderStore, 'move'>; cursors: Cursors }) {
  return async (
    { accountId }: Principal,
    { reader, cursor, rewind }: RequestOf<'AckMatches'>,
  ): Promise<AnswerOf<'AckMatches'>> => {
    const to = openPlace(cursors, scopeOfReader(accountId, reader), cursor);
    const moves = (from: string | null) => {
      const before = from === null ? { position: 0 } : readPlace(from);
      const distance = to.position - before.position;
      // The cursor that says "I know that some were removed" stands where the reader stands.
      const knowsMore = distance === 0 && (to.knownRemoved ?? 0) > (before.knownRemoved ?? 0);
      return distance > 0 || knowsMore || (rewind && distance < 0);
    };
    const outcome = await store.move(accountId, reader, { place: writePlace(to), moves });
    if (!outcome) throw noSuchReader();
    return { reader, moved: outcome.moved };
  };
}
