import type { Random } from '../random.ts';
import type { NextSnowflake } from '../snowflake.ts';
import type { Archived } from '../x/archive.ts';
import { buildPost } from '../x/post.ts';
import { createPostWriter } from './posts.ts';

const days = 7;
/** A sample, because all posts of a week would be millions. */
const stepMs = 60_000;

interface HistoryOptions {
  readonly postsPerSecond: number;
  readonly random: Random;
  readonly nextId: NextSnowflake;
  readonly untilMs: number;
}

/** Posts as the feed would have published them in the week before `untilMs`. Each stands for all posts of its minute. */
export function writeHistory({ postsPerSecond, random, nextId, untilMs }: HistoryOptions): Archived[] {
  const standsFor = (postsPerSecond * stepMs) / 1_000;
  if (standsFor === 0) return [];
  let createdMs = untilMs - days * 86_400_000;
  const writePost = createPostWriter(random, () => nextId(createdMs));
  const history: Archived[] = [];
  for (; createdMs < untilMs; createdMs += stepMs) {
    const post = buildPost(writePost(), { nowMs: () => createdMs, nextId });
    if (typeof post !== 'string') history.push({ post, createdMs, standsFor });
  }
  return history;
}
