import { Failure } from '../failure.ts';
import type { Screen } from '../output/screen.ts';
import { type Access, createBench, type OwnBench, Stopped, withoutStop } from './bench.ts';
import { doctorOfBluesky } from './bluesky/platform.ts';
import { doctorOfFirehose } from './firehose/platform.ts';
import type { DoctorPlatform, Survey } from './platform.ts';
import type { StepId } from './register.ts';
import { createReport, type Report, type StepOutcome } from './report.ts';
import type { Observation, Step } from './step.ts';
import { doctorOfX } from './x/platform.ts';

export interface DoctorOptions {
  /** Null if the platform is not checked. */
  readonly x: Access | null;
  readonly firehose: Access | null;
  readonly bluesky: Access | null;
  readonly steps: readonly StepId[];
  readonly spendUsd: number;
  /** Run although others use the X app or the Firehose token. */
  readonly isBesideOthers: boolean;
  readonly isEnterprise: boolean;
  readonly isTapIdle: boolean;
  readonly busyRule: string;
  /** How many times faster the waits are than on the real platforms. */
  readonly pace: number;
  readonly signal: AbortSignal;
  readonly screen: Pick<Screen, 'note' | 'waitFor'>;
}

/** The results so far. */
interface Notes {
  readonly outcomes: StepOutcome[];
  readonly observations: Observation[];
  usdLeft: number;
  leftBehind: number;
}

/** Runs the steps on the platforms and deletes its rules. Fails before the first step if it would disturb other users. */
export async function runDoctor(options: DoctorOptions): Promise<Report> {
  const notes: Notes = { outcomes: [], observations: [], usdLeft: options.spendUsd, leftBehind: 0 };
  const planned = [
    { platform: doctorOfX, access: options.x },
    { platform: doctorOfFirehose, access: options.firehose },
    { platform: doctorOfBluesky, access: options.bluesky },
  ].map(({ platform, access }) => {
    const steps = platform.steps.filter(({ id }) => options.steps.includes(id));
    return { platform, access, steps };
  });
  try {
    // Surveys both platforms before the first step, so that a refusal changes nothing.
    const surveyed = [];
    for (const { platform, access, steps } of planned) {
      if (steps.length === 0) continue;
      surveyed.push(await survey(platform, access, steps, options));
    }
    for (const { platform, bench, ...course } of surveyed) {
      // Deletes rules that an earlier run could not delete.
      if (bench !== null && course.hasToken) await undo(platform, bench);
      await runSteps(platform, bench, { ...course, notes, options });
    }
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
  }
  return createReport({
    ...notes,
    plan: options.isEnterprise ? 'enterprise' : 'payg',
  });
}

async function survey(
  platform: DoctorPlatform,
  access: Access | null,
  steps: readonly Step[],
  options: DoctorOptions,
) {
  if (access === null) return { platform, bench: null, hasToken: false, steps, hasOthers: false };
  const { pace, signal, isEnterprise, isTapIdle, busyRule } = options;
  const bench = createBench({ access, pace, signal, isEnterprise, isTapIdle, busyRule });
  signal.addEventListener('abort', () => bench.http.closeStreams());
  if (access.token === null) return { platform, bench, hasToken: false, steps, hasOthers: false };
  const found = await platform.survey(bench);
  refuseBesideOthers(platform, found, options.isBesideOthers);
  const hasOthers = found.earshotRules + found.otherRules + found.openStreams > 0;
  return { platform, bench, hasToken: true, steps, hasOthers };
}

function refuseBesideOthers(
  { owner }: DoctorPlatform,
  { earshotRules, openStreams }: Survey,
  isAllowed: boolean,
): void {
  if (isAllowed || earshotRules + openStreams === 0) return;
  const because = earshotRules > 0 ? `has rules of Earshot (${earshotRules})` : 'has an open stream';
  throw new Failure(
    'failed',
    `${owner} ${because}. Use a separate token, or add --beside-others, which opens no streams.`,
  );
}

interface Course {
  readonly steps: readonly Step[];
  readonly hasToken: boolean;
  readonly hasOthers: boolean;
  readonly notes: Notes;
  readonly options: DoctorOptions;
}

async function runSteps(
  platform: DoctorPlatform,
  bench: OwnBench | null,
  { steps, hasToken, hasOthers, notes, options }: Course,
): Promise<void> {
  for (const step of steps) {
    const why = whyLeftOut(step, { hasToken, hasOthers, usdLeft: notes.usdLeft });
    if (why !== null || bench === null) {
      notes.outcomes.push({ step: step.id, outcome: 'left_out', why: why ?? 'no token' });
      continue;
    }
    bench.throwIfStopped();
    const price = step.usdMax === 0 ? 'free' : `at most $${step.usdMax.toFixed(2)}`;
    options.screen.note(`${step.id}  ${step.about}. ${step.calls}; ${price}.`);
    notes.usdLeft -= step.usdMax;
    try {
      await options.screen.waitFor(step.id, collect(step.run({ ...bench, hasOthers }), notes.observations));
      notes.outcomes.push({ step: step.id, outcome: 'done' });
    } catch (error) {
      notes.outcomes.push({ step: step.id, ...failureOf(error) });
      if (error instanceof Stopped) throw error;
    } finally {
      bench.http.closeStreams();
      if (step.makesRules) notes.leftBehind += await undo(platform, bench);
    }
  }
}

async function collect(observations: AsyncIterable<Observation>, into: Observation[]): Promise<void> {
  for await (const observation of observations) into.push(observation);
}

/** Never exceeds the spending limit, because a step counts with its maximum cost. */
function whyLeftOut(
  step: Step,
  { hasToken, hasOthers, usdLeft }: { hasToken: boolean; hasOthers: boolean; usdLeft: number },
): string | null {
  if (!hasToken && !step.needsNoToken) return 'no token';
  if (step.opensStream && hasOthers)
    return 'others use the token, and matches of their rules would be billed';
  // Tolerates rounding errors in sums of cents.
  if (step.usdMax > usdLeft + 1e-9) return `costs up to $${step.usdMax.toFixed(2)}: --spend`;
  return null;
}

function failureOf(error: unknown): Pick<StepOutcome, 'outcome' | 'why'> {
  if (error instanceof Stopped) return { outcome: 'interrupted', why: 'interrupted' };
  return { outcome: 'failed', why: error instanceof Error ? error.message : String(error) };
}

const undoAttempts = 3;
const undoBreathMs = 5_000;

async function undo(platform: DoctorPlatform, bench: OwnBench): Promise<number> {
  const calm = withoutStop(bench);
  for (let attempt = 0; attempt < undoAttempts; attempt += 1) {
    try {
      return await platform.undo(calm);
    } catch {
      await calm.pause(undoBreathMs);
    }
  }
  return Math.max(1, bench.made.size);
}
