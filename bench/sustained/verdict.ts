import { lagMsMax } from './lag.ts';
import type { Sample } from './processes.ts';

const warmUpMs = 120_000;
const minuteMs = 60_000;
const driftMax = 0.1;
const recoveryMsMax = 10_000;
const rateMin = 0.99;

export interface Run {
  /** Items per second that were asked for, and that were sent. */
  readonly rate: number;
  readonly sentPerSecond: number;
  /** How often each item is stored and was listed, by its number. */
  readonly stored: Uint8Array;
  readonly listed: Uint8Array;
  /** Since the beginning. */
  readonly samples: readonly Sample[];
  readonly recoveryMs: number | null;
}

export interface Verdict {
  readonly line: string;
  readonly broken: readonly string[];
}

/** What the run shows, and which of its bounds it breaks. */
export function judge(run: Run): Verdict {
  const { stored, listed, rate, sentPerSecond, recoveryMs } = run;
  const lost = stored.filter((times, n) => times === 0 || listed[n] === 0).length;
  const doubled = stored.filter((times, n) => times > 1 || (listed[n] ?? 0) > 1).length;
  const drift = driftOf(run.samples, 'server');
  const broken = [
    ...(sentPerSecond < rate * rateMin ? ['the machine did not send as much as was asked for'] : []),
    ...(lost > 0 ? ['matches were lost'] : []),
    ...(doubled > 0 ? ['matches were doubled'] : []),
    ...(drift !== null && Math.abs(drift) > driftMax ? ["the server's memory is not flat"] : []),
    ...(recoveryMs === null || recoveryMs > recoveryMsMax
      ? [`the lag was not below ${lagMsMax} ms within ${recoveryMsMax / 1_000} s`]
      : []),
  ];
  const line =
    `sustained rate=${sentPerSecond.toFixed(0)} sent=${stored.length} lost=${lost} doubled=${doubled} ` +
    `memory_drift=${drift === null ? 'too_short' : `${(100 * drift).toFixed(1)}%`} ` +
    `recovery_s=${recoveryMs === null ? 'never' : (recoveryMs / 1_000).toFixed(1)}`;
  return { line, broken };
}

/**
 * Of the means of each minute after the second one, that which differs most from their first, as a share of it. Null for a run
 * that has not two such minutes.
 */
export function driftOf(samples: readonly Sample[], name: string): number | null {
  const beganAt = samples[0]?.atMs ?? 0;
  const settled = samples.filter(({ atMs }) => atMs - beganAt >= warmUpMs);
  const minutes = Map.groupBy(settled, ({ atMs }) => Math.floor((atMs - beganAt) / minuteMs));
  const [first, ...later] = [...minutes.values()].map(
    (minute) => minute.reduce((sum, { memoryMiB }) => sum + (memoryMiB[name] ?? 0), 0) / minute.length,
  );
  if (first === undefined || later.length === 0) return null;
  const drifts = later.map((mean) => mean / first - 1);
  return drifts.reduce((most, drift) => (Math.abs(drift) > Math.abs(most) ? drift : most));
}
