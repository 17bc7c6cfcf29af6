import type { Call, EventStream } from '../accounts/call.ts';
import type { CountStream } from '../accounts/rate-limits.ts';
import type { PlacedNotice } from '../notices/notice-reader.sql.ts';
import { type ListNoticesOptions, openNoticeOffset, scopeOfNotices } from './list-notices.ts';
import { sealOffset, start } from './offset.ts';
import { createTake } from './stream-matches.ts';

const noticesAtOnceMax = 25;

/** Notices as they are raised and resolved, from a cursor or from now on. */
export function streamNotices(options: ListNoticesOptions & { readonly countStream: CountStream }) {
  const { notices, followingNotices, cursors, countStream } = options;
  return async ({ principal, request, lastEventId }: Call<'StreamNotices'>): Promise<EventStream> => {
    const { accountId } = principal;
    using stack = new DisposableStack();
    stack.use(countStream(principal));
    const scope = scopeOfNotices(accountId, { open: false, order: 'oldest' });
    const cursor = lastEventId ?? request.cursor;
    const offset = (await openNoticeOffset(options, scope, true, cursor)) ?? {
      ...start,
      position: (await notices.ends(accountId)).last,
    };
    const follower = stack.use(followingNotices.follow(accountId, offset.position));
    const seal = (position: number) => sealOffset(cursors, scope, { ...offset, position });
    const open = stack.move();
    return {
      take: createTake(seal(offset.position), async () => {
        const found = await follower.take(noticesAtOnceMax);
        const toEvent = ({ position, notice }: PlacedNotice) => ({
          id: seal(position),
          event: 'notice',
          data: JSON.stringify(notice),
        });
        return { events: found.map(toEvent) };
      }),
      onMore: follower.onMore,
      [Symbol.dispose]: () => open.dispose(),
    };
  };
}
