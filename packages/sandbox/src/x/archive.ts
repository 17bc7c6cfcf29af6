import type { XPost } from './post.ts';

export type Archive = ReturnType<typeof createArchive>;

const archivePostsMax = 200_000;

interface Archived {
  readonly post: XPost;
  readonly createdMs: number;
}

/** All posts, whether or not a rule matched them, for search, counts and recovery. */
export function createArchive() {
  const posts: Archived[] = [];
  const takenDown = new Map<string, string>();
  /** Created at or after `fromMs` and before `toMs`, in no order and with those that were taken down. */
  const written = (fromMs: number, toMs: number) =>
    posts.filter(({ createdMs }) => createdMs >= fromMs && createdMs < toMs);
  return {
    add(more: readonly XPost[]): void {
      for (const post of more) posts.push({ post, createdMs: Date.parse(String(post.data['created_at'])) });
      if (posts.length > archivePostsMax * 1.1) posts.splice(0, posts.length - archivePostsMax);
    },
    /** The post is not found any more. */
    takeDown(id: string, reason: string): void {
      takenDown.set(id, reason);
    },
    /** Why the post is not there any more; undefined while it is. */
    takenDown: (id: string) => takenDown.get(id),
    written,
    /** Those of `written` that can still be found, oldest first. */
    between: (fromMs: number, toMs: number): XPost[] =>
      written(fromMs, toMs)
        .filter(({ post }) => !takenDown.has(post.id))
        .toSorted((one, other) => one.createdMs - other.createdMs)
        .map(({ post }) => post),
  };
}
