import { describe, expect, test } from 'vitest';
import { costUsd, reservedUsd, settledUsd } from './judge-cost.ts';
import { writeJudgeRequest } from './judge-request.ts';

const prices = { input: 0.15, output: 0.6 };

test('costUsd charges input and output per million tokens', () => {
  expect(costUsd({ input: 2_000_000, output: 500_000 }, prices)).toBeCloseTo(0.6, 12);
});

test('reservedUsd covers a token per byte of the request, and the longest answer', () => {
  const item = { text: '漢'.repeat(1_000), title: null, url: null, author: null };
  const input = { intent: 'Kanji', criteria: [], examples: [], item };
  const request = writeJudgeRequest(input, { model: 'small', nonce: '1' });
  const bytes = Buffer.byteLength(request.messages.map(({ content }) => content).join(''));
  expect(bytes).toBeGreaterThan(3_000);
  expect(reservedUsd(request, prices)).toBeGreaterThan(costUsd({ input: bytes, output: 300 }, prices));
  expect(reservedUsd(request, { input: 0, output: 0 })).toBe(0);
});

describe('settledUsd', () => {
  test.each([
    ['the reported tokens', { tokens: { input: 1_000, output: 10 }, mayBeBilled: true }, 0.000156],
    ['the whole reservation if they are unknown', { tokens: null, mayBeBilled: true }, 0.5],
    ['nothing if the call cannot have been billed', { tokens: null, mayBeBilled: false }, 0],
  ])('keeps %s', (_, use, usd) => {
    expect(settledUsd(0.5, use, prices)).toBeCloseTo(usd, 12);
  });
});
