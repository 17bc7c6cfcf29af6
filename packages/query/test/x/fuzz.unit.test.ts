import { lengthOf } from '@earshot/testkit';
import { expect, test } from 'vitest';
import { xLanguage } from '../../src/x/language.ts';
import { xSeeds } from '../fuzz/expensive-seeds.ts';
import { fuzz } from '../fuzz/harness.ts';
import { xInputs } from '../fuzz/x-inputs.ts';

const inputs = lengthOf({ always: 2_500, nightly: 100_000 });

test('parses any text without throwing, in time, with valid spans and working fixes', {
  timeout: 300_000,
}, () => {
  const summary = fuzz({ language: xLanguage, input: xInputs(2026), inputs, item: xSeeds[0]?.item });
  expect(summary.failures).toEqual([]);
  expect(summary.fixesOffered).toBeGreaterThan(0.2 * inputs);
  expect(summary.fixesThatRemove / summary.fixesOffered).toBeGreaterThanOrEqual(0.99);
  expect(summary.worstEvaluationMs).toBeLessThan(50);
  expect(summary.worstInPlainTexts, `the worst: ${summary.worstInput.slice(0, 100)}`).toBeLessThan(30);
});
