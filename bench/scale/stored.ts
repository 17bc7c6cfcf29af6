import type { LogEvent } from '../../apps/server/src/event-log/event-log.ts';
import type { NewMatch } from '../../apps/server/src/matching/match-events.ts';

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

export function matchOf(key: string, day: string, rule: number, accountId = 'acct_0'): NewMatch {
  return {
    accountId,
    ruleId: `rule_${rule}`,
    ruleVersion: 1,
    platform: 'x',
    eventKey: key,
    eventDay: day,
    via: 'stream',
    cost: { part: 1_000_000, users: 1, posts: 0 },
  };
}
