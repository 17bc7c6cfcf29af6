import type { Handler } from '../accounts/call.ts';
import type { NoticeReader } from '../notices/notice-reader.sql.ts';
import type { CursorScope, Cursors } from '../runtime/cursor.ts';
import type { NoticeFollowing } from './follow-notices.ts';
import { type Offset, openOffset, refuseRemoved, sealOffset, start } from './offset.ts';

export interface ListNoticesOptions {
  readonly notices: NoticeReader;
  readonly followingNotices: NoticeFollowing;
  readonly cursors: Cursors;
}

/** A page of the account's notices in either direction. With `wait_seconds` it waits for the first notice. */
export function listNotices(options: ListNoticesOptions): Handler<'ListNotices'> {
  const { notices, followingNotices, cursors } = options;
  return async ({ principal: { accountId }, request, signal }) => {
    const { order, limit, wait_seconds = 0, open = false } = request;
    const scope = scopeOfNotices(accountId, { open, order });
    const follows = order === 'oldest';
    const offset = await openNoticeOffset(options, scope, follows, request.cursor);
    const from = offset?.position ?? null;
    using follower = wait_seconds > 0 ? followingNotices.follow(accountId, from ?? 0, { open }) : null;
    const found = follower
      ? await follower.next({ limit, waitMs: wait_seconds * 1_000, signal })
      : await notices.read({ accountId, open, order, from, limit });
    const position = found.at(-1)?.position ?? from ?? 0;
    const goesOn = follows || found.length === limit;
    return {
      notices: found.map(({ notice }) => notice),
      next_cursor: goesOn ? sealOffset(cursors, scope, { ...(offset ?? start), position }) : null,
    };
  };
}

/** Readers of the same notices in the same order can exchange their cursors. */
export function scopeOfNotices(
  accountId: string,
  { open, order }: { open: boolean; order: 'newest' | 'oldest' },
): CursorScope {
  return { accountId, filter: ['notices', open ? 'open' : null, order] };
}

/** Null without a cursor. Throws once if retention has removed notices after the cursor. */
export async function openNoticeOffset(
  { notices, cursors }: Pick<ListNoticesOptions, 'notices' | 'cursors'>,
  scope: CursorScope,
  follows: boolean,
  cursor: string | undefined,
): Promise<Offset | null> {
  if (cursor === undefined) return null;
  const offset = openOffset(cursors, scope, cursor);
  if (follows) {
    const { removedThrough } = await notices.ends(scope.accountId);
    refuseRemoved(cursors, scope, offset, removedThrough);
  }
  return offset;
}
