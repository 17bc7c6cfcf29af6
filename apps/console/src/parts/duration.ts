const units = [
  { unit: 'day', ms: 86_400_000 },
  { unit: 'hour', ms: 3_600_000 },
  { unit: 'minute', ms: 60_000 },
  { unit: 'second', ms: 1_000 },
] as const;

/** Formats a duration in its two largest units: `2 hr 5 min`, `4 sec`. */
export function formatDuration(ms: number, locale?: string): string {
  const inUnit = (value: number, unit: string) =>
    new Intl.NumberFormat(locale, {
      style: 'unit',
      unit,
      unitDisplay: 'short',
      maximumFractionDigits: 1,
    }).format(value);
  const first = units.findIndex((one) => ms >= one.ms);
  const [large, small] = [units[first], units[first + 1]];
  if (!large) return inUnit(Math.max(0, ms) / 1_000, 'second');
  const whole = Math.floor(ms / large.ms);
  const rest = small ? Math.floor((ms - whole * large.ms) / small.ms) : 0;
  return [inUnit(whole, large.unit), ...(small && rest > 0 ? [inUnit(rest, small.unit)] : [])].join(' ');
}
