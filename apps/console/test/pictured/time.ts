/** The time in the pictures. It is in the middle of a month, so that the previous days are in the same month and year. */
export const now = Date.parse('2026-11-14T15:04:00.000Z');

const unitMs = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
type Unit = keyof typeof unitMs;

export function ago(count: number, unit: Unit): string {
  return new Date(now - count * unitMs[unit]).toISOString();
}

export function ahead(count: number, unit: Unit): string {
  return ago(-count, unit);
}

/** A UTC day such as `2026-11-14`. */
export function dayAgo(days: number): string {
  return ago(days, 'day').slice(0, 10);
}
