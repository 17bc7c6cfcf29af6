import type { FirehoseKnobs } from './knobs.ts';
import type { Tap } from './tap.ts';

/** Owns the taps and the credit that they spend (firehose.md §10). */
export interface Organization {
  readonly managementKey: string;
  balanceUsd: number;
  /** Characters around a hit that an event shows of the diff; undefined means the whole diff. */
  readonly excerptChars: number | undefined;
  /** By id. */
  readonly taps: Map<string, Tap>;
  readonly knobs: FirehoseKnobs;
}

export const matchUsd = 0.005;

export function findTapByToken({ taps }: Organization, token: string | undefined): Tap | undefined {
  return taps.values().find((tap) => tap.token === token);
}
