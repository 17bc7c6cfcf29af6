import { expect, test } from 'vitest';
import type { Follower, ReaderQuery } from './follow-matches.ts';
import { readOrWait } from './read-or-wait.ts';
import { type LogEntry, toRemovalEntry } from './to-match.ts';
import { showAll } from './views.ts';

const at = new Date(0);
const stored = toRemovalEntry({ position: 1, matchPosition: 0, platform: 'x', reason: 'deleted', at });
const hidden = { muted: 0, not_relevant: 0 };
const coverage = { complete_through: at.toISOString(), gaps: [] };

/** A log that stores a match just before its coverage is read. The tail does not have it yet. */
function growingLog() {
  const log: LogEntry[] = [];
  return {
    following: {
      page: async () => ({ entries: [...log], more: false }),
      follow: () => ({
        take: () => [],
        onMore: () => undefined,
        next: async () => [],
        [Symbol.dispose]: () => undefined,
      }),
    },
    coverage: async () => {
      log.push(stored);
      return coverage;
    },
  };
}

const query: ReaderQuery = {
  accountId: 'acc_1',
  ruleId: 'rule_1',
  platform: null,
  since: null,
  until: null,
  order: 'oldest',
  from: null,
  limit: 50,
};

test.each([0, 30_000])(
  'a page has everything that its coverage reports as complete, after waiting %d ms',
  async (waitMs) => {
    const { signal } = new AbortController();
    const page = await readOrWait(growingLog(), query, { waitMs, signal, jumpedTo: 0, viewOf: showAll });
    expect(page).toEqual({ entries: [stored], hidden, through: 1, more: false, coverage });
  },
);

test('coverage is read only for a rule or a platform', async () => {
  const { signal } = new AbortController();
  const page = await readOrWait(
    growingLog(),
    { ...query, ruleId: null },
    { waitMs: 0, signal, jumpedTo: 0, viewOf: showAll },
  );
  expect(page).toEqual({ entries: [], hidden, through: null, more: false, coverage: null });
});

test('an answer with few matches lingers for 200 ms', async () => {
  const { following, coverage: readCoverage } = growingLog();
  const lingered: unknown[] = [];
  const next: Follower['next'] = async ({ lingerMs }) => {
    lingered.push(lingerMs);
    return [stored];
  };
  const follow = () => ({ ...following.follow(), next });
  const { signal } = new AbortController();
  const options = { following: { ...following, follow }, coverage: readCoverage };
  await readOrWait(options, query, { waitMs: 30_000, signal, jumpedTo: 0, viewOf: showAll });
  expect(lingered).toEqual([200]);
});
