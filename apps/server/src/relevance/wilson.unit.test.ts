import { describe, expect, test } from 'vitest';
import { recallOf, wilson } from './wilson.ts';

describe('wilson', () => {
  test.each([
    [0, 10, 0, 0.278],
    [1, 10, 0.018, 0.404],
    [5, 10, 0.237, 0.763],
    [60, 60, 0.94, 1],
    [57, 60, 0.863, 0.983],
  ])('%i of %i is between %d and %d', (hits, samples, low, high) => {
    const share = wilson(hits, samples);
    expect(share?.estimate).toBe(hits / samples);
    expect(share?.low).toBeCloseTo(low, 2);
    expect(share?.high).toBeCloseTo(high, 2);
  });

  test('says nothing without samples', () => expect(wilson(0, 0)).toBeNull());

  test('contains the true share in about 95% of random samples', () => {
    let seed = 7;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    for (const truth of [0.02, 0.3, 0.9]) {
      let covered = 0;
      for (let run = 0; run < 2_000; run++) {
        let hits = 0;
        for (let n = 0; n < 60; n++) if (random() < truth) hits += 1;
        const share = wilson(hits, 60);
        if (share && share.low <= truth && truth <= share.high) covered += 1;
      }
      expect(covered / 2_000).toBeGreaterThan(0.91);
    }
  });
});

describe('recallOf', () => {
  const [half, all] = [wilson(50, 100), wilson(60, 60)];

  test('weighs the wrongly rejected by how many were rejected', () => {
    expect(
      recallOf({ count: 60, relevant: all }, { count: 40, relevant: wilson(1, 10) })?.estimate,
    ).toBeCloseTo(60 / 64, 6);
    const few = recallOf({ count: 100, relevant: half }, { count: 1_000, relevant: wilson(0, 30) });
    expect(few?.estimate).toBe(1);
    // Not one of 30 was relevant, but more than 100 of the 1,000 may be.
    expect(few?.low).toBeLessThan(0.35);
  });

  test('is 1 if nothing is rejected, and unknown without labels', () => {
    expect(recallOf({ count: 10, relevant: half }, { count: 0, relevant: null })).toMatchObject({
      low: 1,
      high: 1,
    });
    expect(recallOf({ count: 10, relevant: null }, { count: 0, relevant: null })).toBeNull();
    expect(recallOf({ count: 10, relevant: half }, { count: 10, relevant: null })).toBeNull();
  });
});

/**
 * Why hiding needs 60 relevant labels: a judge that gives scores and hides below the lowest score of the labelled relevant items keeps
 * .98 of the relevant items with 60 of them, and .96 in the worst tenth; with 20, the worst tenth loses more than 5%.
 */
test('60 relevant labels keep the recall in the worst tenth of draws above .95, and 20 do not', () => {
  let seed = 11;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const worstTenth = (labels: number) => {
    const recalls = Array.from({ length: 4_000 }, () => {
      // With any distribution of scores, the lowest of n leaves out a share that is the least of n uniform numbers.
      let least = 1;
      for (let n = 0; n < labels; n++) least = Math.min(least, random());
      return 1 - least;
    }).toSorted((a, b) => a - b);
    return recalls[400] ?? 0;
  };
  expect(worstTenth(60)).toBeGreaterThan(0.95);
  expect(worstTenth(20)).toBeLessThan(0.92);
});
