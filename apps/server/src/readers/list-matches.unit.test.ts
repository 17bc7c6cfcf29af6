import { expect, test } from 'vitest';
import { callOf } from '../../test/call-of.ts';
import { createParsedRules } from '../language/explain-match.ts';
import { createCursors } from '../runtime/cursor.ts';
import { listMatches } from './list-matches.ts';
import type { StoredMatch } from './match-reader.sql.ts';

/** Rules on patterns are the slowest to explain: each of them tries every word of the page. */
const slowRule = Array.from({ length: 8 }, (_, index) => `added:/.*q.{${index}}z/`).join(' OR ');
/** Enough for many turns, however fast one of them is explained. */
const page = 100;
const text = Array.from({ length: 1500 }, (_, index) => `w${index}`).join(' ');

function slowMatch(position: number): StoredMatch {
  return {
    position,
    ruleId: 'rule_1',
    ruleVersion: 1,
    ruleValue: slowRule,
    createdAt: new Date(0),
    platform: 'firehose',
    platformPostId: 'https://news.example',
    via: 'stream',
    payload: {
      url: 'https://news.example',
      title: null,
      text: null,
      author: null,
      published_at: null,
      language: null,
      raw: { document: { url: 'https://news.example', diff: { chunks: [{ typ: 'ins', text }] } } },
    },
  };
}

test('others have their turn while a page of matches is explained', async () => {
  let turns = 0;
  let counting = false;
  const takeTurns = () => {
    if (!counting) return;
    turns++;
    setImmediate(takeTurns);
  };
  const list = listMatches({
    reader: {
      removedThrough: async () => 0,
      read: async () => {
        counting = true;
        setImmediate(takeTurns);
        return { matches: Array.from({ length: page }, (_, index) => slowMatch(index + 1)), more: false };
      },
    },
    rules: { exists: async () => true },
    coverage: async () => ({ complete_through: null, gaps: [] }),
    parsedRules: createParsedRules(),
    cursors: createCursors(Buffer.alloc(32)),
    following: {
      now: async () => 0,
      follow: () => {
        throw new Error('not asked');
      },
    },
  });
  const { matches } = await list(callOf('ListMatches', { limit: page, order: 'newest' }));
  counting = false;
  expect(matches).toHaveLength(page);
  expect(turns).toBeGreaterThanOrEqual(4);
});
