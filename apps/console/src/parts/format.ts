/** Numbers and times are formatted in the locale of the browser. */
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

/** Amounts below 10 cents have two significant digits, because a post costs half a cent. */
export function formatUsd(usd: number): string {
  return usd > 0 && usd < 0.1 ? smallDollars.format(usd) : dollars.format(usd);
}

/** Formats a cost of the API as a range, or as one amount if `min` and `max` look the same. */
export function formatUsdRange({ min, max }: { min: number; max: number }): string {
  const [low, high] = [formatUsd(min), formatUsd(max)];
  return low === high ? low : `${low}–${high}`;
}

/** Formats today's times without a date, and times of this year without a year. */
export function formatTime(at: string, now = new Date()): string {
  const time = new Date(at);
  if (time.toDateString() === now.toDateString()) return clock.format(time);
  return (time.getFullYear() === now.getFullYear() ? dayAndClock : otherYear).format(time);
}

/** Formats a time without seconds, for axes. */
export function formatClock(time: Date): string {
  return shortClock.format(time);
}

export function formatDay(time: Date): string {
  return dayOnly.format(time);
}

export function formatExactTime(at: string): string {
  return exact.format(new Date(at));
}
