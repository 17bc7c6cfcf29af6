import type { ReaderStore } from '../../readers/reader-store.ts';
import type { Route } from '../route.ts';

export function listReadersRoute(store: Pick<ReaderStore, 'list'>): Route<'ListReaders'> {
  return { id: 'ListReaders', handle: async ({ accountId }) => ({ readers: await store.list(accountId) }) };
}
