import type { XPost } from './post.ts';

export type Archive = ReturnType<typeof createArchive>;

const archivePostsMax = 200_000;

export interface Archived {
  readonly post: XPost;
  readonly createdMs: number;
  /** The number of posts that counts add for it; 1 unless it is a sample. */
  readonly standsFor: number;
}

/**
 * All posts, whether or not a rule matched them, for search, counts and recovery. Only counts include the history, which is written
 * by `prepare`, or when it is first counted.
 */
export function createArchive(writeHistory: () => readonly Archived[]) {
  const posts: Archived[] = [];
  let history: readonly Archived[] | undefined;
  const takenDown = new Map<string, string>();
  /** Created at or after `fromMs` and before `toMs`, in no order and with those that were taken down. */
  const written = (fromMs: number, toMs: number) => posts.filter(isWithin(fromMs, toMs));
  const prepare = () => (history ??= writeHistory());
  return {
    prepare,
    add(more: readonly XPost[]): void {
      for (const post of more)
        posts.push({ post, createdMs: Date.parse(String(post.data['created_at'])), standsFor: 1 });
      if (posts.length > archivePostsMax * 1.1) posts.splice(0, posts.length - archivePostsMax);
    },
    /** The post is not found any more. */
    takeDown(id: string, reason: string): void {
      takenDown.set(id, reason);
    },
    /** Why the post is not there any more; undefined while it is. */
    takenDown: (id: string) => takenDown.get(id),
    /** As `written`, with the history. */
    counted: (fromMs: number, toMs: number): readonly Archived[] => [
      ...prepare().filter(isWithin(fromMs, toMs)),
      ...written(fromMs, toMs),
    ],
    /** Those of `written` that can still be found, oldest first. */
    between: (fromMs: number, toMs: number): XPost[] =>
      written(fromMs, toMs)
        .filter(({ post }) => !takenDown.has(post.id))
        .toSorted((one, other) => one.createdMs - other.createdMs)
        .map(({ post }) => post),
  };
}

const isWithin =
  (fromMs: number, toMs: number) =>
  ({ createdMs }: Archived) =>
    createdMs >= fromMs && createdMs < toMs;
