const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

export const timeGrammar = '2h, 2027-01-31 or 2027-01-31T12:00:00Z';

/** Where a length of time such as `2h` leads: two hours ago, or from now. */
export type TimeDirection = 'past' | 'future';

/** Reads a time as people write it, and answers it as the API takes it; null when it is none. A day begins at midnight UTC. */
export function parseTime(given: string, direction: TimeDirection, now: Date): string | null {
  const [, amount, unit = ''] = /^(\d{1,6})([smhdw])$/.exec(given) ?? [];
  if (amount !== undefined) {
    const ms = Number(amount) * (unitMs[unit] ?? 0);
    return new Date(now.getTime() + (direction === 'past' ? -ms : ms)).toISOString();
  }
  const date = new Date(given);
  // `Date` takes much else, in local time, and moves 30 February into March.
  const isTime =
    /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/.test(given) &&
    !Number.isNaN(date.getTime()) &&
    isDay(given.slice(0, 10));
  return isTime ? date.toISOString() : null;
}

function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
