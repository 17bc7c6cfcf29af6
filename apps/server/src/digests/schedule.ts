import { Cron } from 'croner';

/** When a digest is due: at the times of a cron line in a zone, or every so many seconds. */
export type Schedule =
  | { readonly cron: string; readonly timeZone: string }
  /** `sinceMs`: where the first window begins. */
  | { readonly windowSeconds: number; readonly sinceMs: number };

/**
 * The first time of the schedule behind the given one. Cron follows Vixie cron over a change of the clock: a fixed time that occurs
 * twice counts once, the first time; one that does not exist is due when the clock goes on; `*` and steps follow the time that passes.
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

/** What is wrong with a cron line or its zone; null: nothing. */
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
    return { field: 'cron', message: 'Describes no time in the years to come.' };
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
