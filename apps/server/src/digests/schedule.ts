import { Cron } from 'croner';

/** When a digest is due: by a cron line in a time zone, or at a fixed interval. */
export type Schedule =
  | { readonly cron: string; readonly timeZone: string }
  /** `sinceMs` is the start of the first window. */
  | { readonly windowSeconds: number; readonly sinceMs: number };

/**
 * The first scheduled time after the given one. Clock changes follow Vixie cron: a fixed time that occurs twice
 * counts once, the first time. One that is skipped is due when the clock jumps. `*` and steps follow elapsed time.
 */
export function nextTimeMs(schedule: Schedule, afterMs: number): number {
  if ('windowSeconds' in schedule) {
    const windowMs = schedule.windowSeconds * 1_000;
    return schedule.sinceMs + (Math.floor((afterMs - schedule.sinceMs) / windowMs) + 1) * windowMs;
  }
  const next = cronOf(schedule.cron, schedule.timeZone).nextRun(new Date(afterMs));
  if (next === null) throw new Error(`the cron line ${schedule.cron} has no next time`);
  return next.getTime();
}

/** The error in a cron line or its zone; null if it is valid. */
export function cronProblem(
  cron: string,
  timeZone: string,
): { field: 'cron' | 'time_zone'; message: string } | null {
  if (!isTimeZone(timeZone))
    return { field: 'time_zone', message: 'Must be the name of a time zone, such as "Europe/Berlin".' };
  if (!/^\S+( +\S+){4}$/.test(cron))
    return { field: 'cron', message: 'Must have five fields, such as "0 9 * * 1-5".' };
  try {
    if (cronOf(cron, timeZone).nextRun() !== null) return null;
    return { field: 'cron', message: 'Matches no time in the next years.' };
  } catch {
    return { field: 'cron', message: 'Is not a cron line such as "0 9 * * 1-5".' };
  }
}

function isTimeZone(name: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

function cronOf(cron: string, timezone: string): Cron {
  return new Cron(cron, { timezone, mode: '5-part', paused: true });
}
