import type { LogEvent } from '../src/event-log/event-log.ts';

/** One day for a whole file: the same post is of the same day, also when midnight passes between two looks at it. */
const today = new Date().toISOString().slice(0, 10);

/** Of a match that no other rule of the account has. */
export const wholeCost = { part: 1_000_000, users: 0, posts: 0 };

/** A post of today that matched these upstream rules. */
export function xEvent(number: number, changed: Partial<LogEvent> = {}): LogEvent {
  const key = String(1_900_000_000_000_000_000n + BigInt(number));
  return {
    platform: 'x',
    sourceId: 'x:main',
    upstreamEventId: key,
    key,
    day: today,
    platformPostId: key,
    rules: [{ upstreamRuleId: '1', tag: null }],
    payload: {
      url: null,
      title: null,
      text: `post ${number}`,
      author: null,
      published_at: null,
      language: null,
      raw: {},
    },
    ...changed,
  };
}
