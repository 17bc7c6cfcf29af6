import type { Handler } from '../accounts/call.ts';
import type { Cursors } from '../runtime/cursor.ts';
import { noSuchReader } from './no-such-reader.ts';
import { moved, openPlace, readPlace, scopeOfReader, writePlace } from './place.ts';
import type { ReaderStore } from './reader-store.ts';

/** Moves a named reader, forward only unless asked otherwise: an acknowledgement that comes late takes nothing back. */
export function ackMatches({
  store,
  cursors,
}: {
  store: Pick<ReaderStore, 'move'>;
  cursors: Cursors;
}): Handler<'AckMatches'> {
  return async ({ principal: { accountId }, request: { reader, cursor, rewind } }) => {
    const to = openPlace(cursors, scopeOfReader(accountId, reader), cursor);
    const moves = (place: string | null) => {
      const from = place === null ? moved(null, 0) : readPlace(place);
      if (to.position === from.position) return to.knownRemoved > from.knownRemoved;
      return rewind || to.position > from.position;
    };
    const outcome = await store.move(accountId, reader, { place: writePlace(to), moves });
    if (!outcome) throw noSuchReader();
    return { reader, moved: outcome.moved };
  };
}
