import type { Platform } from '@earshot/contract/platforms';
import type { Answers } from '@earshot/sdk';
import { renderFinding } from './findings.ts';
import { matchLine } from './match-line.ts';
import { printable } from './printable.ts';
import type { Screen } from './screen.ts';
import { shortTime } from './times.ts';

type Previewed = NonNullable<Answers['PreviewRule']['platforms'][Platform]>;

/** The preview of one platform, for people. */
export function previewText(
  platform: Platform,
  { translated_value: value, warnings, estimate, sample, against }: Previewed,
  {
    screen,
    days,
    typed,
  }: { screen: Pick<Screen, 'columns' | 'paint'>; days: number; typed: string | undefined },
): string {
  const { paint } = screen;
  return [
    `${paint('bold', printable(value))} on ${platform}`,
    ...warnings.map((warning) =>
      renderFinding(warning, { option: `--${platform}`, value: typed, columns: screen.columns }),
    ),
    ...estimateLines(estimate),
    `  ${sampleLine(sample, days)}`,
    ...(against ? [`  ${againstLine(against, days)}`] : []),
    ...sample.matches.map((match) => `  ${matchLine(match, { ...screen, columns: screen.columns - 2 })}`),
  ].join('\n');
}

const boundWords = { at_least: 'at least ', at_most: 'at most ' } as const;

function estimateLines(estimate: Previewed['estimate']): string[] {
  const { matches_per_day: perDay, busiest_hour: busiest, bound } = estimate;
  const words = bound === null ? '' : boundWords[bound];
  const fee = estimate.fee_usd > 0 ? ` The estimate cost $${estimate.fee_usd}.` : '';
  return [
    `  a day         ${perDay ? `${words}${dayWords(perDay)}` : 'unknown'}`,
    ...(busiest ? [`  busiest hour  ${number(busiest.matches)} (${shortTime(busiest.starts_at)})`] : []),
    ...costLines(estimate, words),
    `  based on      ${estimate.basis}: ${printable(estimate.basis_note)}${fee}`,
  ];
}

function usdWords({ min, max }: { min: number; max: number }): string {
  const [low, high] = [`$${min.toFixed(2)}`, `$${max.toFixed(2)}`];
  return low === high ? low : `${low} to ${high}`;
}

function costLines(
  { usd_per_day: day, usd_per_month: month }: Previewed['estimate'],
  words: string,
): string[] {
  return day && month
    ? [`  costs         ${words}${usdWords(day)} a day, ${usdWords(month)} in 30 days`]
    : [];
}

function dayWords({ average, busiest, days }: NonNullable<Previewed['estimate']['matches_per_day']>): string {
  const most = busiest === null ? '' : `, ${number(busiest)} on the busiest of ${days} days`;
  return `${number(average)} matches${most}`;
}

function sampleLine(
  { evaluated, stored, is_sampled, matched, undecided }: Previewed['sample'],
  days: number,
) {
  const part = is_sampled ? ` (a random sample of about ${number(stored)})` : '';
  const open = undecided > 0 ? `, ${number(undecided)} undecided` : '';
  return `stored items  ${number(matched)} of ${number(evaluated)} match${part}${open}, of the last ${days} days`;
}

function againstLine(
  { added, removed, undecided, is_estimate }: NonNullable<Previewed['against']>,
  days: number,
): string {
  const about = is_estimate ? 'about ' : '';
  const open = undecided > 0 ? `, ${number(undecided)} undecided` : '';
  return `would change  ${about}+${number(added)}, −${number(removed)} of the last ${days} days${open}`;
}

const number = (value: number) => value.toLocaleString('en-US', { maximumFractionDigits: 1 });
