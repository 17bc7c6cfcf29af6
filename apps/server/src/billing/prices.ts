import type { Budget, Platform } from '@earshot/contract';
import type { BilledKind, ResourceKind } from '../upstream/platform.ts';
import { platforms, type UpstreamSettings } from '../upstream/platforms.ts';
import { whole } from './divide.ts';

/** What the upstreams charge for one of each kind, in US dollars, and when the prices were checked. */
export interface Prices {
  readonly as_of: string;
  /** By `platform.kind`. */
  readonly usd: Readonly<Record<string, number>>;
}

/** What the answers about rules need to show budgets. */
export interface RulePricing {
  readonly prices: Prices;
  /** Applies to rules without their own budget; null disables it. */
  readonly ruleBudget: Budget | null;
}

/** The price lists of the platforms on the day `as_of`. */
export function defaultPrices(): Prices {
  const lists = Object.entries(platforms).flatMap(([platform, { billing }]) =>
    Object.entries(billing.prices).map(([kind, usd]) => [`${platform}.${kind}`, usd]),
  );
  return { as_of: '2026-08-22', usd: Object.fromEntries(lists) };
}

export function defaultPricing(): RulePricing {
  return { prices: defaultPrices(), ruleBudget: null };
}

/** Reads `x.post=0.004,as_of=2027-01-31`. Prices that are not named keep their defaults. Returns a message if it cannot be read. */
export function readPrices(text: string): Prices | string {
  const { usd: known } = defaultPrices();
  const usd = { ...known };
  let asOf: string | null = null;
  for (const pair of text.split(',').map((one) => one.trim())) {
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/.exec(pair) ?? [];
    if (name === 'as_of') {
      if (!isDay(value)) return `as_of is a day such as 2027-01-31, not "${value}"`;
      asOf = value;
    } else if (!Object.hasOwn(known, name)) {
      return `"${name || pair}" is not a price: the prices are ${Object.keys(known).join(', ')}`;
    } else if (!/^\d{1,4}(\.\d{1,6})?$/.test(value)) {
      return `${name} is in US dollars, such as 0.005, not "${value}"`;
    } else usd[name] = Number(value);
  }
  return asOf === null ? 'as_of is missing: the day on which you checked these prices' : { as_of: asOf, usd };
}

/** As `readPrices` reads it. */
export function formatPrices({ usd, as_of }: Prices): string {
  return Object.entries({ ...usd, as_of })
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().slice(0, 10) === text;
}

export interface Usd {
  readonly min: number;
  readonly max: number;
}

export function sumUsd(all: Iterable<Usd>): Usd {
  let [min, max] = [0, 0];
  for (const one of all) {
    min += one.min;
    max += one.max;
  }
  return { min, max };
}

/** Rounds to a millionth of a dollar, which removes floating-point errors. */
export function roundUsd({ min, max }: Usd): Usd {
  return { min: Math.round(min * whole) / whole, max: Math.round(max * whole) / whole };
}

export function priceOf({ usd }: Prices, platform: Platform, kind: BilledKind): number {
  return usd[`${platform}.${kind}`] ?? 0;
}

/** The matches of an account on a platform: items and the resources included with them, in millionths. */
export interface CountedMatches {
  readonly items: number;
  readonly users: number;
  readonly referenced_posts: number;
}

export function costOfMatches(prices: Prices, platform: Platform, counted: CountedMatches): Usd {
  const cost = (millionths: number, kind: ResourceKind) =>
    (millionths / whole) * priceOf(prices, platform, kind);
  const min = cost(counted.items, platforms[platform].billing.itemKind);
  return { min, max: min + cost(counted.users, 'user') + cost(counted.referenced_posts, 'post') };
}

/** The price of one item: alone, and with every resource that may be included. */
export function itemPrice(prices: Prices, settings: UpstreamSettings, platform: Platform): Usd {
  const { users, posts } = platforms[platform].mostAlong(settings);
  const counted = { items: whole, users: users * whole, referenced_posts: posts * whole };
  return costOfMatches(prices, platform, counted);
}
