import type { LogEvent } from '../apps/server/src/event-log/event-log.ts';
import type { NewMatch } from '../apps/server/src/matching/match-events.ts';

const sentence = 'The turbine hall was quiet when the first engineers arrived before dawn to look at it. ';

/** A post of about a kilobyte, as the match workers store it. */
export function postOf(key: string, day: string): LogEvent {
  const text = `known0 ${sentence.repeat(2)}`;
  const raw = { data: { id: key, text, author_id: '1', lang: 'en', created_at: `${day}T12:00:00.000Z` } };
  const payload = {
    url: `https://x.com/person/status/${key}`,
    title: null,
    text,
    author: { id: '1', name: 'A person', handle: 'person' },
    published_at: `${day}T12:00:00.000Z`,
    language: 'en',
    raw,
  };
  return {
    platform: 'x',
    sourceId: 'x:main',
    upstreamEventId: key,
    key,
    day,
    platformPostId: key,
    rules: [],
    payload,
  };
}

/** Of the only rule that matched the post. */
export function matchOf(post: LogEvent, ruleId: string, accountId: string): NewMatch {
  return {
    accountId,
    ruleId,
    ruleVersion: 1,
    platform: post.platform,
    eventKey: post.key,
    eventDay: post.day,
    via: 'stream',
    cost: { part: 1_000_000, users: 1, posts: 0 },
  };
}
