import type { OwnBench } from './bench.ts';
import type { Step } from './step.ts';

/** Who else uses the app or the tap. */
export interface Survey {
  /** Rules of Earshot, and of anybody else. */
  readonly earshotRules: number;
  readonly otherRules: number;
  /** Streams that are open now; 0 where a platform does not tell. */
  readonly openStreams: number;
}

/** What the doctor knows of one platform. */
export interface DoctorPlatform {
  readonly name: string;
  /** What the token opens, for people. */
  readonly owner: string;
  readonly steps: readonly Step[];
  /** Fails when the token opens nothing. */
  readonly survey: (bench: OwnBench) => Promise<Survey>;
  /** Deletes every rule with the doctor's tag, and what this run made. Returns how many are left. */
  readonly undo: (bench: OwnBench) => Promise<number>;
}

/** Rules of an installation are tagged `earshot:<installation>:<slot>`; the doctor's own do not count. */
export function countOwners(tags: readonly (string | null)[], doctorTagPrefix: string) {
  const others = tags.filter((tag) => !tag?.startsWith(doctorTagPrefix));
  const earshotRules = others.filter((tag) => tag?.startsWith('earshot:')).length;
  return { earshotRules, otherRules: others.length - earshotRules };
}
