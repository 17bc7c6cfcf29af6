import type { Answers } from '@earshot/sdk';
import type { Screen } from './screen.ts';
import { renderTable } from './table.ts';

type Usage = Answers['GetUsage'];
type Entry = Usage['usage'][number];

/** Everything in a line but the bar, at the usual widths. */
const besideBar = 62;
const barMax = 40;
const barMin = 8;

/** A line per day or rule and platform; on a terminal that is wide enough, with a bar for its cost. */
export function usageText(
  { usage, total, prices_as_of }: Usage,
  screen: Pick<Screen, 'paint' | 'columns' | 'isTerminal'>,
): string {
  const end = `${total.matches} matches, ${dollars(total.usd)}, at the prices of ${prices_as_of}.`;
  if (usage.length === 0) return `Nothing was matched in this time: ${end}`;
  const width = screen.isTerminal ? Math.min(barMax, screen.columns - besideBar) : 0;
  const most = Math.max(...usage.map(({ usd }) => usd.max));
  const rows = usage.map((entry) => [
    entry.day ?? entry.rule_id ?? '',
    entry.platform,
    String(entry.matches),
    dollars(entry.usd),
    ...(width >= barMin ? [barOf(entry, most, width)] : []),
  ]);
  const first = usage[0]?.day === undefined ? 'RULE' : 'DAY';
  return `${renderTable([first, 'PLATFORM', 'MATCHES', 'COST', ''], rows, screen)}\n\n${end}`;
}

/** The one figure, or the two between which it lies. */
function dollars({ min, max }: Entry['usd']): string {
  const text = (usd: number) => `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)}`;
  return text(min) === text(max) ? text(min) : `${text(min)}–${text(max)}`;
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Solid for what it costs at the least, light up to what it costs at the most. */
function barOf({ usd }: Entry, most: number, width: number): string {
  if (most === 0) return '';
  const units = (one: number) => Math.round((one / most) * width * 8);
  const [least, all] = [units(usd.min), units(usd.max)];
  const solid = '█'.repeat(Math.floor(least / 8)) + (eighths[least % 8] ?? '');
  return solid + '░'.repeat(Math.max(0, Math.round(all / 8) - solid.length));
}
