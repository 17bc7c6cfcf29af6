import type { AssumptionNumber } from './assumptions.ts';
import type { Http } from './http.ts';
import type { StepId } from './register.ts';

export type Verdict = 'agrees' | 'differs' | 'not_seen';

/** The behaviour of a platform, without its ids, texts and times. */
export interface Observation {
  readonly number: AssumptionNumber;
  readonly verdict: Verdict;
  readonly observed: string;
}

/** The tools for the steps of one platform. */
export interface Bench {
  /** Base URL of the platform. */
  readonly url: string;
  readonly http: Http;
  /** A new tag for a rule of this run. */
  readonly nextTag: () => string;
  /** Ids of the rules that this run created and must delete. */
  readonly made: Set<string>;
  /** A made-up word. A rule for it matches nothing. */
  readonly word: string;
  /** Others use the token, so a stream would cause costs for their rules. */
  readonly hasOthers: boolean;
  /** The Firehose token has no stored matches, so resuming a stream is free. */
  readonly isTapIdle: boolean;
  readonly isEnterprise: boolean;
  /** An X query that matches a few posts a minute. */
  readonly busyRule: string;
  /** Converts a duration on the platform to a local one, which is shorter with a faster sandbox. */
  readonly realMs: (serviceMs: number) => number;
  /** Throws if the user stopped the run. */
  readonly pause: (serviceMs: number) => Promise<void>;
  /** Throws if the user stopped the run. Called before every request. */
  readonly throwIfStopped: () => void;
}

export interface Step {
  readonly id: StepId;
  readonly about: string;
  /** For people, before it runs. */
  readonly calls: string;
  /** Maximum cost. */
  readonly usdMax: number;
  readonly makesRules?: true;
  readonly opensStream?: true;
  /** Only F0 works without a token. */
  readonly needsNoToken?: true;
  /** Yields each observation at once, so that a step that fails has reported the earlier ones. */
  readonly run: (bench: Bench) => AsyncIterable<Observation>;
}

export function seen(number: AssumptionNumber, isAsExpected: boolean, observed: string): Observation {
  return { number, verdict: isAsExpected ? 'agrees' : 'differs', observed };
}

export function notSeen(number: AssumptionNumber, why: string): Observation {
  return { number, verdict: 'not_seen', observed: why };
}

export const doctorTagPrefix = 'earshot:doctor:';
