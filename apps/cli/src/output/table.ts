import { widthOf } from '@earshot/query';
import { printable } from './printable.ts';
import type { Screen } from './screen.ts';

/** Renders columns under headings. Each column is as wide as its longest cell. */
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

/** Renders one field per line. Fields without a value are omitted. */
export function renderFields(
  fields: readonly (readonly [string, string | null | undefined])[],
  { paint }: Pick<Screen, 'paint'>,
): string {
  const shown = fields.flatMap(([name, value]) => (value ? [[name, value] as const] : []));
  const width = Math.max(0, ...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${paint('dim', name.padEnd(width))}  ${printable(value)}`).join('\n');
}
