import type { OwnBench } from './bench.ts';
import type { Step } from './step.ts';

/** The other users of the X app or the Firehose token. */
export interface Survey {
  /** Rules of Earshot installations, and all other rules. */
  readonly earshotRules: number;
  readonly otherRules: number;
  /** Open streams; 0 if the platform does not report them. */
  readonly openStreams: number;
}

/** The checks of one platform. */
export interface DoctorPlatform {
  readonly name: string;
  /** The X app or Firehose token, for people. */
  readonly owner: string;
  readonly steps: readonly Step[];
  /** Fails if the token is not valid. */
  readonly survey: (bench: OwnBench) => Promise<Survey>;
  /** Deletes every rule with the doctor's tag, and the rules of this run. Returns how many are left. */
  readonly undo: (bench: OwnBench) => Promise<number>;
}

/** Rules of an installation are tagged `earshot:<installation>:<slot>`; the doctor's own do not count. */
export function countOwners(tags: readonly (string | null)[], doctorTagPrefix: string) {
  const others = tags.filter((tag) => !tag?.startsWith(doctorTagPrefix));
  const earshotRules = others.filter((tag) => tag?.startsWith('earshot:')).length;
  return { earshotRules, otherRules: others.length - earshotRules };
}
