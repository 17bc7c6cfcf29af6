import type { LogEvent } from '../src/event-log/event-log.ts';
import type { NewMatch } from '../src/matching/match-events.ts';

/** One day for a whole file: the same post is of the same day, also if midnight passes during the test. */
const today = new Date().toISOString().slice(0, 10);

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

/** The upstream rule id of another account. */
export function xMatch(post: LogEvent, ruleId: string, accountId = 'acc_1'): NewMatch {
  return {
    accountId,
    ruleId,
    ruleVersion: 1,
    platform: post.platform,
    eventKey: post.key,
    eventDay: post.day,
    via: 'stream',
    itemAt: null,
    cost: { part: 1_000_000, users: 0, posts: 0 },
  };
}
