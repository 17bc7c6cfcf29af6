import type { AssumptionNumber } from './assumptions.ts';
import type { Http } from './http.ts';
import type { StepId } from './register.ts';

export type Verdict = 'agrees' | 'differs' | 'not_seen';

/** What a platform did, in words that hold no id, text or time of it. */
export interface Observation {
  readonly number: AssumptionNumber;
  readonly verdict: Verdict;
  readonly observed: string;
}

/** What the steps of one platform work with. */
export interface Bench {
  readonly http: Http;
  /** Of the rules that this run makes; another number for each. */
  readonly nextTag: () => string;
  /** Ids of the rules that this run made, to be deleted in any case. */
  readonly made: Set<string>;
  /** A word that nobody writes: a rule for it matches nothing. */
  readonly word: string;
  /** Rules of others were there: what opens a stream would have theirs billed. */
  readonly hasOthers: boolean;
  /** Nothing that matched before is kept for the tap: what resumes a stream is free. */
  readonly isTapIdle: boolean;
  readonly isEnterprise: boolean;
  /** A rule of X that matches some posts a minute. */
  readonly busyRule: string;
  /** The platform's time in this machine's: shorter with a sandbox that runs faster. */
  readonly realMs: (serviceMs: number) => number;
  /** Throws when the run is to end. */
  readonly pause: (serviceMs: number) => Promise<void>;
  /** Throws when the run is to end; stands before every call. */
  readonly goOn: () => void;
}

export interface Step {
  readonly id: StepId;
  readonly about: string;
  /** For people, before it runs. */
  readonly calls: string;
  /** The most that it can cost. */
  readonly usdMax: number;
  readonly makesRules?: true;
  readonly opensStream?: true;
  /** F0 asks what needs no token. */
  readonly needsNoToken?: true;
  /** Tells what it sees as it goes: a step that fails half-way has told half of it. */
  readonly run: (bench: Bench) => AsyncIterable<Observation>;
}

export function seen(number: AssumptionNumber, isAsExpected: boolean, observed: string): Observation {
  return { number, verdict: isAsExpected ? 'agrees' : 'differs', observed };
}

export function notSeen(number: AssumptionNumber, why: string): Observation {
  return { number, verdict: 'not_seen', observed: why };
}

export const doctorTagPrefix = 'earshot:doctor:';
