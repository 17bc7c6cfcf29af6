import type { FirehoseKnobs } from './knobs.ts';
import type { Tap } from './tap.ts';

/** Owns the taps and the credit that they spend (firehose.md §10). */
export interface Organization {
  readonly managementKey: string;
  /** In millionths of a dollar, so that sums are exact. */
  balanceMicroUsd: number;
  /** Characters around a hit that an event shows of the diff; undefined means the whole diff. */
  readonly excerptChars: number | undefined;
  /** By id. */
  readonly taps: Map<string, Tap>;
  readonly knobs: FirehoseKnobs;
}

export const matchMicroUsd = 5_000;

export function toMicroUsd(usd: number): number {
  return Math.round(usd * 1_000_000);
}

export function findTapByToken({ taps }: Organization, token: string | undefined): Tap | undefined {
  return taps.values().find((tap) => tap.token === token);
}
