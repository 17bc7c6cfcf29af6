import type { XPost } from './post.ts';

export type Archive = ReturnType<typeof createArchive>;

const postsMax = 200_000;

/** All posts, whether or not a rule matched them, for search and recovery. */
export function createArchive() {
  const posts: XPost[] = [];
  const takenDown = new Map<string, string>();
  return {
    add(more: readonly XPost[]): void {
      posts.push(...more);
      if (posts.length > postsMax * 1.1) posts.splice(0, posts.length - postsMax);
    },
    /** The post is not found any more. */
    takeDown(id: string, reason: string): void {
      takenDown.set(id, reason);
    },
    /** Why the post is not there any more; undefined while it is. */
    takenDown: (id: string) => takenDown.get(id),
    /** Created at or after `fromMs` and before `toMs`, oldest first. */
    between(fromMs: number, toMs: number): XPost[] {
      const created = ({ data }: XPost) => Date.parse(String(data['created_at']));
      return posts
        .filter((post) => created(post) >= fromMs && created(post) < toMs && !takenDown.has(post.id))
        .toSorted((one, other) => created(one) - created(other));
    },
  };
}
