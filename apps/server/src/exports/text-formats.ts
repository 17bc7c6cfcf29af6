import type { ExportedMatch } from '@earshot/contract';
import { columns } from './export-row.ts';

export function ndjsonLine(row: ExportedMatch): string {
  return `${JSON.stringify(row)}\n`;
}

export const csvHeader = `${columns.join(',')}\r\n`;

/** RFC 4180. Null is an empty cell, an empty text is `""`. */
export function csvLine(row: ExportedMatch): string {
  return `${columns.map((name) => cellOf(row[name])).join(',')}\r\n`;
}

/**
 * A spreadsheet runs a cell that begins with one of these as a formula. A quote in front prevents that. A text that begins with a quote
 * gets one too, so that removing one restores every text.
 */
const formula = /^[=+\-@\t\r']/;

function cellOf(value: string | number | null): string {
  if (value === null) return '';
  const text = String(value);
  const safe = formula.test(text) ? `'${text}` : text;
  return text === '' || /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
