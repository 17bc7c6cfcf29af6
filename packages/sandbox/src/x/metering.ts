import type { JsonObject } from '../http/json.ts';

const postUsd = 0.005;
const userUsd = 0.01;
const daysMax = 3;

export type Meter = ReturnType<typeof createMeter>;

interface Day {
  readonly posts: Set<string>;
  readonly users: Set<string>;
  readonly referenced: Set<string>;
}

/** A post is billed once per UTC day, however often it is delivered (x.md §8.1). */
export function createMeter() {
  const days = new Map<string, Day>();
  return {
    /** `resources` are the ids of the expanded users and posts that were delivered with the post. */
    count(atMs: number, postId: string, resources: { users: string[]; posts: string[] }): void {
      const date = new Date(atMs).toISOString().slice(0, 10);
      const day = days.get(date) ?? { posts: new Set(), users: new Set(), referenced: new Set() };
      days.set(date, day);
      day.posts.add(postId);
      for (const id of resources.users) day.users.add(id);
      for (const id of resources.posts) day.referenced.add(id);
      const [oldest] = days.keys();
      if (days.size > daysMax && oldest !== undefined) days.delete(oldest);
    },
    /** Posts of all days, with those that came along where they are billed. */
    postsRead: (withExpansions: boolean): number =>
      days
        .values()
        .map(({ posts, referenced }) =>
          withExpansions ? new Set([...posts, ...referenced]).size : posts.size,
        )
        .reduce((sum, count) => sum + count, 0),
    report: (): JsonObject[] =>
      Array.from(days, ([date, { posts, users, referenced }]) => ({
        date,
        posts: posts.size,
        bill_usd: round(posts.size * postUsd),
        bill_with_expansions_usd: round(
          new Set([...posts, ...referenced]).size * postUsd + users.size * userUsd,
        ),
      })),
  };
}

function round(usd: number): number {
  return Math.round(usd * 1_000) / 1_000;
}
