import type { Answers } from '@earshot/sdk';
import type { Screen } from './screen.ts';
import { renderTable } from './table.ts';

type Counts = Answers['CountMatches'];

const eighths = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** One line per step, or one line per series with its steps as a small chart. */
export function countsText({ from, step, series }: Counts, screen: Pick<Screen, 'paint'>): string {
  const total = sum(series.flatMap(({ counts }) => counts));
  if (total === 0) return 'There are no matches in this time.';
  const end = total === 1 ? '1 match.' : `${total} matches.`;
  const [first] = series;
  if (first && first.rule_id === undefined && first.platform === undefined) {
    const begin = (nth: number) => new Date(Date.parse(from) + nth * step * 1_000).toISOString();
    const rows = first.counts.map((count, nth) => [begin(nth), String(count)]);
    return `${renderTable(['FROM', 'MATCHES'], rows, screen)}\n\n${end}`;
  }
  const rows = series.map(({ rule_id, platform, counts }) => [
    rule_id ?? platform ?? '',
    String(sum(counts)),
    picture(counts),
  ]);
  const heading = first?.platform === undefined ? 'RULE' : 'PLATFORM';
  return `${renderTable([heading, 'MATCHES', ''], rows, screen)}\n\n${end}`;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function picture(counts: readonly number[]): string {
  const most = Math.max(1, ...counts);
  return counts.map((count) => eighths[Math.ceil((count / most) * 7)] ?? '').join('');
}
