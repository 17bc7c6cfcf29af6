import type { createDeleteReader } from '../../readers/delete-reader.ts';
import type { Route } from '../route.ts';

export function deleteReaderRoute(
  deleteReader: ReturnType<typeof createDeleteReader>,
): Route<'DeleteReader'> {
  return { id: 'DeleteReader', handle: (_principal, request, { change }) => deleteReader(request, change) };
}
