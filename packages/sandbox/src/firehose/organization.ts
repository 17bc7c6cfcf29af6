import type { Tap } from './tap.ts';

/** The owner of the taps and of the credit they use up (firehose.md §10). */
export interface Organization {
  readonly managementKey: string;
  balanceUsd: number;
  /** Characters around a hit that an event shows of the diff; undefined shows all of it. */
  readonly excerptChars: number | undefined;
  /** By id. */
  readonly taps: Map<string, Tap>;
}

export const matchUsd = 0.005;

export function findTapByToken({ taps }: Organization, token: string | undefined): Tap | undefined {
  return taps.values().find((tap) => tap.token === token);
}
