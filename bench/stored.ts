import type { LogEvent } from '../apps/server/src/event-log/event-log.ts';

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
