import { failure } from '../answering-server.ts';

export const removal = (id: string) => ({
  type: 'removed',
  match_id: id,
  reason: 'deleted',
  removed_at: '2026-11-16T09:00:00.000Z',
});

export const restored = failure(400, 'out_of_range', {}, { reason: 'restored', oldest_cursor: 'c5' });
