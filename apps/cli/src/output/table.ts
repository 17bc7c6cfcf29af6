import { widthOf } from '@earshot/query';
import { printable } from './printable.ts';
import type { Screen } from './screen.ts';

/** Columns under headings, as wide as what is in them; the last one may be as long as it likes. */
export function renderTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { paint }: Pick<Screen, 'paint'>,
): string {
  if (rows.length === 0) return 'There are none.';
  const cells = [headings, ...rows.map((row) => row.map(printable))];
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => widthOf(row[column] ?? ''))));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
      .join('  ')
      .trimEnd(),
  );
  return [paint('dim', lines[0] ?? ''), ...lines.slice(1)].join('\n');
}

/** Names and values below each other; what has no value is left out. */
export function renderFields(
  fields: readonly (readonly [string, string | null | undefined])[],
  { paint }: Pick<Screen, 'paint'>,
): string {
  const shown = fields.flatMap(([name, value]) => (value ? [[name, value] as const] : []));
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${paint('dim', name.padEnd(width))}  ${printable(value)}`).join('\n');
}
