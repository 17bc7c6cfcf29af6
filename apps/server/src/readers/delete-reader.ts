import type { AnswerOf, RequestOf } from '@earshot/contract';
import type { Change } from '../changes/change.ts';
import { noSuchReader } from './no-such-reader.ts';
import type { ReaderStore } from './reader-store.ts';

export function createDeleteReader(store: Pick<ReaderStore, 'delete'>) {
  return async (request: RequestOf<'DeleteReader'>, change: Change): Promise<AnswerOf<'DeleteReader'>> => {
    const answer = await store.delete(change, request.reader);
    if (!answer) throw noSuchReader();
    return answer;
  };
}
