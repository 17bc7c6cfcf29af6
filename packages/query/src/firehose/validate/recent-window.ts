import type { Span } from '../../ast.ts';
import { certain, error, type Fix, hint, replace } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { parseWindow } from '../evaluate-recent.ts';
import type { PlacedAtom, View } from './rule.ts';

const qualityHours = 7 * 24;

const unitNames: Readonly<Record<string, string>> = {
  hour: 'h',
  hr: 'h',
  day: 'd',
  month: 'mo',
  mon: 'mo',
};

/** `recent:` takes a whole number and `h`, `d` or `mo` (firehose.md §12.8). */
export function recentWindow({ atom, field }: PlacedAtom, view: View): void {
  if (field !== 'recent') return;
  const window = atom.kind === 'term' || atom.kind === 'quoted' ? parseWindow(atom.value) : null;
  if (window === null || atom.slop !== null) {
    const message = `${quoted(view.text.slice(...atom.span))} is not a window. Write a whole number and h, d or mo, for example \`recent:7d\`.`;
    const fixes = windowFixes(atom.value, [atom.span[0], atom.slop?.span[1] ?? atom.span[1]]);
    view.report(error('bad_recent', message, atom.span, fixes));
  } else if (window.hours > qualityHours) {
    const message =
      'The quality filter of a rule, on by default, already keeps only pages of the last 7 days; a wider window has no effect then.';
    view.report(hint('recent_over_quality', message, atom.span));
  }
}

function windowFixes(value: string, span: Span): Fix[] {
  const found = /^([1-9][0-9]{0,4})\s*([a-z]*)$/i.exec(value.trim());
  if (found === null) return [];
  const [, count = '', unit = ''] = found;
  // Minutes or months; the shortest window is an hour.
  if (unit === 'm') return ['1h', `${count}mo`].map((meant) => replace(`Use ${meant}`, span, meant));
  const meant = normalUnit(Number(count), unit.toLowerCase());
  if (meant === null) return [];
  const fix = replace(`Use ${meant}`, span, meant);
  return [unit === '' || unit === 'M' ? fix : certain(fix)];
}

function normalUnit(count: number, unit: string): string | null {
  if (unit.startsWith('w')) return `${count * 7}d`;
  if (unit.startsWith('y')) return `${count * 12}mo`;
  if (unit === '' || unit === 'd') return `${count}d`;
  if (unit === 'm') return `${count}mo`;
  const known = unitNames[unit.replace(/s$/, '')];
  return known === undefined
    ? unit === 'h' || unit === 'mo'
      ? `${count}${unit}`
      : null
    : `${count}${known}`;
}
