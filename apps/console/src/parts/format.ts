/** Numbers and times in the reader's locale. */
const whole = new Intl.NumberFormat();
const dollars = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' });
const smallDollars = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 2,
});
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const dayAndClock = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
});
const shortClock = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' });
const dayOnly = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });
const otherYear = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

export function formatCount(count: number): string {
  return whole.format(Math.round(count));
}

/** A post costs half a cent: cents alone would show most rules as free. */
export function formatUsd(usd: number): string {
  return usd > 0 && usd < 0.1 ? smallDollars.format(usd) : dollars.format(usd);
}

/** `min` and `max` as the API tells costs; one figure where they agree. */
export function formatUsdRange({ min, max }: { min: number; max: number }): string {
  const [low, high] = [formatUsd(min), formatUsd(max)];
  return low === high ? low : `${low}–${high}`;
}

/** The time alone if it is today, otherwise with its day, and in another year with that. */
export function formatTime(at: string, now = new Date()): string {
  const time = new Date(at);
  if (time.toDateString() === now.toDateString()) return clock.format(time);
  return (time.getFullYear() === now.getFullYear() ? dayAndClock : otherYear).format(time);
}

/** Without seconds, for axes. */
export function formatClock(time: Date): string {
  return shortClock.format(time);
}

export function formatDay(time: Date): string {
  return dayOnly.format(time);
}

export function formatExactTime(at: string): string {
  return exact.format(new Date(at));
}
