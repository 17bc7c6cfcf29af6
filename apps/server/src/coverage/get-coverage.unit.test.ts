import { expect, test } from 'vitest';
import { callOf } from '../../test/call-of.ts';
import type { CoverageQuery } from './coverage-store.sql.ts';
import { getCoverage } from './get-coverage.ts';
import type { Ledger } from './ledger.ts';
import { createReadCoverage } from './read-coverage.ts';

const now = Date.parse('2026-03-01T12:00:00Z');

/** An empty ledger that records the window it was read for. */
function openLedger(retentionDays: number) {
  const queries: CoverageQuery[] = [];
  const read = async (one: CoverageQuery): Promise<Ledger> => {
    queries.push(one);
    const nothing = { platforms: [], watched: [], intervals: new Map(), missing: [], repairs: [] };
    return { now: one.to, matchedThrough: one.to, from: one.from, to: one.to, needsAll: true, ...nothing };
  };
  return { queries, options: { store: { read }, retentionDays, nowMs: () => now } };
}

test.each([
  [8, '2026-02-21T12:00:00.000Z'],
  [30, '2026-01-30T12:00:00.000Z'],
  [90, '2025-12-01T12:00:00.000Z'],
])('coverage reaches back as far as matches are kept: %i days', async (retentionDays, from) => {
  const { queries, options } = openLedger(retentionDays);
  const get = getCoverage({ ...options, rules: { exists: async () => true } });
  expect(await get(callOf('GetCoverage', { from: '2020-01-01T00:00:00Z' }))).toMatchObject({ from });
  await createReadCoverage(options)({ accountId: 'acc_1', ruleId: null, platform: null });
  expect(queries.map((one) => one.from.toISOString())).toEqual([from, from]);
});
