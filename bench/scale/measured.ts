import { readFileSync } from 'node:fs';
import type { Constants } from './model.ts';
import type { Observed } from './run-point.ts';

/** A run of the real system, with three NATS servers and one node: what it was given, and what it used. */
export interface Point extends Observed {
  readonly curve: string;
  readonly matchesPerEvent: number;
  readonly accounts?: number;
  readonly endpoints?: number;
  readonly webhookMatchesPerSecond: number;
  /** No constant was taken from it: the model is held against it. */
  readonly isCheck?: boolean;
}

/** Everything that was measured, in the order of docs/scale.md. */
export interface Measured {
  readonly about: Readonly<Record<'date' | 'machine' | 'conditions' | 'how', string>>;
  readonly points: readonly Point[];
  /** Runs of another hour, right after a burst; no constant was taken from them either. */
  readonly afterBurst: readonly Point[];
  /** An installation in which nothing happens; percent of a core. */
  readonly idle: readonly {
    readonly rules: number;
    readonly accounts: number;
    readonly node: number;
    readonly postgres: number;
    readonly nodeMiB: number;
  }[];
  /** Microseconds of processor time for a list of 50 matches, and for storing a match. */
  readonly days: readonly {
    readonly days: number;
    readonly list: { readonly server: number; readonly postgres: number };
    readonly listOfRule: { readonly server: number; readonly postgres: number };
    readonly store: number;
  }[];
  /** Microseconds of processor time of the node for a match that a stream gets. */
  readonly streams: readonly {
    readonly streams: number;
    readonly follow: 'rule' | 'account';
    readonly deliveriesPerSecond: number;
    readonly node: number;
    readonly nodeMiB: number;
  }[];
}

/** Rules that events match: 20 on both platforms, and for every further match one on each of the 40 slots. */
export const rulesOf = ({ matchesPerEvent }: Point) => 20 + 40 * (matchesPerEvent - 1);

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));

/** Files of our own, which the type checker cannot look into. */
export const measured = read('measured.json') as Measured;
export const checks = measured.points.filter(({ isCheck }) => isCheck);
export const constants = read('constants.json') as Constants;
