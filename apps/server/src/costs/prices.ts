import type { Billed, ItemCharges } from '../upstream/platform.ts';

/** US dollars, as the platforms publish them. */
export type Prices = Readonly<Record<Billed, number>>;

export const defaultPrices: Prices = {
  post: 0.005,
  user: 0.01,
  page: 0.005,
  counts_recent: 0.005,
  counts_all: 0.01,
};

/** What one item costs: alone, and with everything that may come along. */
export function itemPrice(prices: Prices, { item, along }: ItemCharges): { min: number; max: number } {
  const min = prices[item];
  let max = min;
  // `Object.entries` forgets the names.
  for (const [kind, count] of Object.entries(along) as [Billed, number][]) max += prices[kind] * count;
  return { min, max };
}
