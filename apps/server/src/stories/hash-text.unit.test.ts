import { expect, test } from 'vitest';
import { hashText } from './hash-text.ts';

test('a million similar texts have different hashes, and each bit is set in half of them', () => {
  const count = 1_000_000;
  const seen = new Set<string>();
  const set = new Uint32Array(64);
  for (let n = 0; n < count; n++) {
    const hash = hashText(`post x ${1_900_000_000_000_000_000n + BigInt(n)}`);
    seen.add(hash);
    if (n % 100 > 0) continue;
    const bits = BigInt.asUintN(64, BigInt(hash));
    for (let bit = 0; bit < 64; bit++) set[bit] = (set[bit] ?? 0) + Number((bits >> BigInt(bit)) & 1n);
  }
  expect(seen.size).toBe(count);
  for (const times of set) expect(Math.abs(times / (count / 100) - 0.5)).toBeLessThan(0.03);
});

test('the order of letters and a single letter make a difference', () => {
  const texts = ['', 'a', 'b', 'ab', 'ba', 'aab', 'aba', 'baa', 'a\u0000', '\u0000a'];
  expect(new Set(texts.map(hashText)).size).toBe(texts.length);
});

test('a hash is a bigint of PostgreSQL, and the same on every machine', () => {
  expect(hashText('post x 1989472511223344556')).toMatchInlineSnapshot(`"-1620817814140566924"`);
});
