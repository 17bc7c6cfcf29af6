import { expect, test } from 'vitest';
import { proofFacts } from '../src/screens/editor/proof-words.ts';
import { relevance as proof } from './pictured/relevance.ts';

const words = (...given: Parameters<typeof proofFacts>) =>
  Object.fromEntries(proofFacts(...given).map(({ name, words }) => [name, words]));

test('says precision and recall with their intervals, and never rounds to certainty', () => {
  const { Precision, Recall } = words(proof, null);
  expect(Precision).toBe('90% of what is shown is relevant (81% to 95%).');
  expect(Recall).toBe('96% of the relevant matches are not rejected (86% to 99%).');
});

test('says how many labels are missing until the judge may hide', () => {
  const settings = { judge: true, criteria: [], accept_unproven: false, usd_per_day: null };
  const hiding = (differs: object, accept_unproven = false) =>
    words({ ...proof, ...differs }, { ...settings, accept_unproven })['Hiding'];
  expect(hiding({})).toMatch(/^18 more relevant labels until the judge may hide/);
  expect(hiding({ labels_missing: 1 })).toMatch(/^1 more relevant label until/);
  expect(hiding({}, true)).toMatch(/^The judge may hide matches without proof\. 18 more/);
  expect(hiding({ is_proven: true, labels_missing: 0 })).toMatch(/leave out what the judge rejects/);
});

test('without a judge, shows only what labels say', () => {
  const facts = words({ ...proof, judge: null, precision: null, recall: null }, null);
  expect(Object.keys(facts)).toEqual(['Labels', 'Precision', 'Judge']);
  expect(facts['Precision']).toMatch(/^Not known without labels/);
});
