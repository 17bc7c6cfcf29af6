import { describe, expect, test } from 'vitest';
import { type Language, languages } from '../src/index.ts';

/** Longer than any real tokeniser would count: every punctuation mark is one, a word one per four letters. */
function tokensAtMost(text: string): number {
  return (text.match(/[A-Za-z]{1,4}|\d{1,3}|[^\sA-Za-z\d]/g) ?? []).length;
}

describe.each(Object.values(languages))('the syntax guide of $platform', (language) => {
  const guide = language.guide();

  test('every operator has an example, and every example is valid', () => {
    const without = guide.operators.filter(({ examples }) => examples.length === 0);
    const invalid = guide.operators.flatMap(({ examples, tier }) =>
      examples.filter((example) => !language.validate(example, { tier }).valid),
    );
    expect({ without, invalid }).toEqual({ without: [], invalid: [] });
  });

  test('every whole rule in it is valid and has no finding', () => {
    expect(guide.examples.length).toBeGreaterThan(2);
    const found = guide.examples.filter(({ value }) =>
      language.validate(value).diagnostics.some(({ code }) => code !== 'quality_filter'),
    );
    expect(found).toEqual([]);
  });

  test('every pitfall is found in the wrong rule and not in the right one', () => {
    expect(guide.pitfalls.length).toBeGreaterThan(4);
    const unfit = guide.pitfalls.filter(({ wrong, right }) => {
      const before = language.validate(wrong).diagnostics.map(({ code }) => code);
      const { valid, diagnostics } = language.validate(right);
      const after = new Set(diagnostics.map(({ code }) => code));
      // Short as they are, many are called broad on both sides.
      return !valid || before.every((code) => after.has(code));
    });
    expect(unfit).toEqual([]);
  });

  test('its markdown holds every operator and example', () => {
    for (const { form } of guide.operators) expect(guide.markdown).toContain(form);
    for (const { value } of guide.examples) expect(guide.markdown).toContain(value);
  });
});

test('the guides together fit into an agent’s context', () => {
  const { x, firehose, bluesky } = languages;
  const tokensOf = (...some: readonly Language[]) =>
    tokensAtMost(some.map((language) => language.guide().markdown).join('\n'));
  expect(tokensOf(x, firehose)).toBeLessThan(6000);
  expect(tokensOf(x, firehose, bluesky)).toBeLessThan(7000);
});
