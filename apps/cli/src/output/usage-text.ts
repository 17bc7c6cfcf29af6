import { widthOf } from '@earshot/query';
import type { Answers } from '@earshot/sdk';
import type { Screen } from './screen.ts';
import { renderTable } from './table.ts';

type Usage = Answers['GetUsage'];
type Entry = Usage['usage'][number];

/** Usual width of a line without its first column and its bar. */
const besideBar = 52;
const barMax = 40;
const barMin = 8;

/** One line per platform and day or rule. On a wide terminal, each has a bar for its cost. */
export function usageText(
  { usage, total, judge, prices_as_of }: Usage,
  screen: Pick<Screen, 'paint' | 'columns' | 'isTerminal'>,
): string {
  const end = `${total.matches} matches, ${dollars(total.usd)}, at the prices of ${prices_as_of}.${judgeText(judge)}`;
  if (usage.length === 0) return `There are no matches in this time: ${end}`;
  const labels = usage.map(labelOf);
  const labelsWidth = Math.max(...labels.map(widthOf));
  const width = screen.isTerminal ? Math.min(barMax, screen.columns - besideBar - labelsWidth) : 0;
  const most = Math.max(...usage.map(({ usd }) => usd.max));
  const rows = usage.map((entry, index) => [
    labels[index] ?? '',
    entry.platform,
    String(entry.matches),
    dollars(entry.usd),
    ...(width >= barMin ? [barOf(entry, most, width)] : []),
  ]);
  const first = usage[0]?.day === undefined ? 'RULE' : 'DAY';
  return `${renderTable([first, 'PLATFORM', 'MATCHES', 'COST', ''], rows, screen)}\n\n${end}`;
}

function judgeText(judge: Usage['judge']): string {
  if (!judge) return '';
  const { calls, usd } = judge;
  return `\nBesides, ${calls} ${calls === 1 ? 'call' : 'calls'} of the judge, ${dollars({ min: usd, max: usd })} at most.`;
}

function labelOf({ day, rule_id, rule_name }: Entry): string {
  return day ?? (rule_name ? `${rule_name} (${rule_id})` : `${rule_id} (deleted)`);
}

/** One figure, or the range if minimum and maximum differ. */
function dollars({ min, max }: Entry['usd']): string {
  const text = (usd: number) => `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)}`;
  return text(min) === text(max) ? text(min) : `${text(min)}–${text(max)}`;
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** A solid bar for the minimum, and a light one up to the maximum. */
function barOf({ usd }: Entry, most: number, width: number): string {
  if (most === 0) return '';
  const units = (one: number) => Math.round((one / most) * width * 8);
  const [least, all] = [units(usd.min), units(usd.max)];
  const solid = '█'.repeat(Math.floor(least / 8)) + (eighths[least % 8] ?? '');
  return solid + '░'.repeat(Math.max(0, Math.round(all / 8) - solid.length));
}
