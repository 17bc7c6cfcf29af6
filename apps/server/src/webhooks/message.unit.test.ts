import type { Match } from '@earshot/contract';
import { expect, test } from 'vitest';
import { batchBytesMax, createBatchBody } from './message.ts';

function match(number: number, text: string): Match {
  return {
    id: `mat_${number}`,
    rule_id: 'rule_1',
    rule_version: 1,
    created_at: '2026-11-14T22:46:00.000Z',
    platform: 'x',
    platform_post_id: String(number),
    via: 'stream',
    payload: {
      url: null,
      title: null,
      text,
      author: null,
      published_at: null,
      language: null,
      raw: { text },
    },
    why: { verdict: 'unknown', confidence: 'approximate', evidence: [], undecided: [] },
  };
}

function bodyOf(matches: readonly Match[]) {
  const body = createBatchBody('whk_1');
  const added = matches.filter((one) => body.add(one));
  return { added, text: body.text(), parsed: JSON.parse(body.text()) };
}

test('a body has its matches as they are listed, and is always the same', () => {
  const matches = [match(1, 'a'), match(2, 'Grüße "世界" \u0000')];
  const { text, parsed } = bodyOf(matches);
  expect(parsed).toEqual({ type: 'matches', webhook_id: 'whk_1', matches });
  expect(bodyOf(matches).text).toBe(text);
});

test('a body is filled up to 1 MiB, counted in bytes', () => {
  const matches = Array.from({ length: 10 }, (_, index) => match(index, '世'.repeat(40_000)));
  const { added, text } = bodyOf(matches);
  expect(added.length).toBe(4);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(batchBytesMax);
  expect(Buffer.byteLength(text)).toBeGreaterThan(batchBytesMax * 0.7);
});

test('a match above the limit is cut and marked; a smaller one before it is sent separately', () => {
  const large = match(1, 'x'.repeat(600_000));
  const { parsed, text } = bodyOf([large]);
  expect(parsed.matches).toMatchObject([{ id: 'mat_1', truncated: true, payload: { raw: {} } }]);
  expect(parsed.matches[0].payload.text).toHaveLength(10_000);
  expect(Buffer.byteLength(text)).toBeLessThan(batchBytesMax);
  expect(bodyOf([match(0, 'small'), large]).added).toHaveLength(1);
});
