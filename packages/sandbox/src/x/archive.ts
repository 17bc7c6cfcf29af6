import type { XPost } from './post.ts';

/** All posts, whether or not a rule matched them, for search and recovery. */
export interface Archive {
  add(posts: readonly XPost[]): void;
  /** Created at or after `fromMs` and before `toMs`, oldest first. */
  between(fromMs: number, toMs: number): XPost[];
}

const postsMax = 200_000;

export function createArchive(): Archive {
  const posts: XPost[] = [];
  return {
    add(more) {
      posts.push(...more);
      if (posts.length > postsMax * 1.1) posts.splice(0, posts.length - postsMax);
    },
    between(fromMs, toMs) {
      const created = ({ data }: XPost) => Date.parse(String(data['created_at']));
      return posts
        .filter((post) => created(post) >= fromMs && created(post) < toMs)
        .toSorted((one, other) => created(one) - created(other));
    },
  };
}
