import type { Handler } from '../accounts/call.ts';
import { noSuchReader } from './no-such-reader.ts';
import type { ReaderStore } from './reader-store.ts';

export function deleteReader(store: Pick<ReaderStore, 'delete'>): Handler<'DeleteReader'> {
  return async ({ request, change }) => {
    const answer = await store.delete(change, request.reader);
    if (!answer) throw noSuchReader();
    return answer;
  };
}
