import type { Span } from '../../ast.ts';
import { certain, error, type Fix, hint, replace, suspicious } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { parseWindow } from '../evaluate-recent.ts';
import type { Group } from '../surface.ts';
import { isPlainValue, type PlacedAtom, type PlacedClause, removal, source, type View } from './rule.ts';

const datePattern = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const timePattern = /^[0-9]{4}-[0-9]{2}-[0-9]{2}/;
const dayMs = 86_400_000;

function isTime(bound: string | null): boolean {
  return bound === null || timePattern.test(bound);
}

/** `[NOW-7DAYS TO NOW]` is a window; a month is a range. */
function windowFix({ atom, clause }: PlacedAtom): Fix[] {
  const span = [clause.field?.span[0] ?? atom.span[0], atom.span[1]] as const;
  const low = atom.range ? (atom.range.low ?? '') : atom.value;
  const found = /^now-(\d{1,4})(h|d|mo?)[a-z]*(?:\/\w+)?$/i.exec(low);
  const isOpen = atom.range === null || atom.range.high === null || /^now/i.test(atom.range.high);
  if (found !== null && isOpen) {
    const [, count = '', unit = ''] = found;
    const window = `recent:${count}${unit.toLowerCase() === 'm' ? 'mo' : unit.toLowerCase()}`;
    const fix = replace(`Write ${window}`, span, window);
    // A bare time may mean a day.
    return [atom.range === null ? fix : certain(fix)];
  }
  if (atom.range === null && /^(?:today|now)$/i.test(low))
    return [replace('Write recent:1d', span, 'recent:1d')];
  const { range } = atom;
  if (range && range.low !== null && isTime(range.low) && /^now$/i.test(range.high ?? '')) {
    const open = [range.highSpan[0], atom.span[1]] as const;
    return [certain(replace('Leave the end open', open, '*]'))];
  }
  const month = atom.range === null ? /^(\d{4})-(\d{2})$/.exec(low) : null;
  if (month === null) return [];
  const next = new Date(Date.UTC(Number(month[1]), Number(month[2]), 1)).toISOString().slice(0, 10);
  return [certain(replace('Match the whole month', atom.span, `[${low}-01 TO ${next}}`))];
}

/** Times are compared as text, and `2026-05-31T08:00:00` sorts after `2026-05-31`. */
export function publishDate(placed: PlacedAtom, view: View): void {
  const { atom, field } = placed;
  if (field !== 'publish_time') return;
  const high = atom.range?.high ?? null;
  const low = atom.range?.low ?? null;
  if (
    isPlainValue(placed)
      ? !/^[<>]/.test(atom.value) && !timePattern.test(atom.value)
      : atom.range && ![low, high].every(isTime)
  ) {
    const message =
      'A time begins with year, month and day, such as 2026-05-31. Words and arithmetic such as NOW-1DAY never match; for the last days write `recent:7d`.';
    return view.report(error('bad_date', message, atom.span, windowFix(placed)));
  }
  if (low !== null && high !== null && low > high) {
    const message = 'The range runs backwards, so it never matches: the earlier time comes first.';
    const written = view.text.slice(...atom.span);
    const swapped = written.replace(/^(.)([\w:.-]+)( TO )([\w:.-]+)(.)$/, '$1$4$3$2$5');
    const fixes = swapped === written ? [] : [certain(replace('Swap the bounds', atom.span, swapped))];
    view.report(error('backward_range', message, atom.span, fixes));
  } else if (atom.range?.includeHigh === true && high !== null && datePattern.test(high)) {
    const next = nextDay(high);
    const end = view.text.slice(atom.range.highSpan[1], atom.span[1]).replace(/\]$/, '}');
    const fixes =
      next === null
        ? []
        : [certain(replace(`Up to the end of ${high}`, [atom.range.highSpan[0], atom.span[1]], next + end))];
    const message = `This leaves out ${high} itself: times are compared as text. Use the next day as an excluded bound.`;
    view.report(suspicious('date_upper_bound', message, atom.range.highSpan, fixes));
  } else if (isPlainValue(placed) && datePattern.test(atom.value)) {
    const next = nextDay(atom.value);
    const fixes =
      next === null ? [] : [certain(replace('Match the whole day', atom.span, `[${atom.value} TO ${next}}`))];
    const message = 'A publication time has hours and minutes, so a date alone never equals it. Use a range.';
    view.report(error('date_without_time', message, atom.span, fixes));
  }
}

function nextDay(date: string): string | null {
  const ms = Date.parse(`${date}T00:00:00Z`);
  return Number.isNaN(ms) ? null : new Date(ms + dayMs).toISOString().slice(0, 10);
}

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

/**
 * The platform takes `recent:` out of the query and applies it to the whole rule, so only one place has a
 * meaning: once, on the top level, joined by AND to everything else.
 */
export function recentPlacement(view: View): void {
  const uses = view.clauses.filter(({ clause, field }) => field === 'recent' && clause.body.type === 'atom');
  if (uses.length === 0) return;
  const top = innermostTop(view.top);
  uses.forEach((placed, index) => {
    const problem = index > 0 ? repeated(placed) : misplaced(placed, top, view);
    if (problem === null) return;
    // With several of them the first gets no fix: the others must be removed before.
    const noFix = view.hasSyntaxErrors || (index === 0 && uses.length > 1);
    view.report(error('misplaced_recent', problem.message, placed.clause.span, noFix ? [] : problem.fixes));
  });
}

interface Problem {
  readonly message: string;
  readonly fixes: Fix[];
}

/** The top level of a rule that is in parentheses as a whole is inside them. */
function innermostTop(group: Group): Group {
  const [only] = group.clauses;
  const wrapped = only?.body.type === 'group' && group.clauses.length === 1 && only.modifier === null;
  return wrapped && only.body.type === 'group' && only.field === null ? innermostTop(only.body) : group;
}

function repeated(placed: PlacedClause): Problem {
  return { message: '`recent:` may be used once in a rule. Keep the narrower one.', fixes: removal(placed) };
}

function misplaced(placed: PlacedClause, top: Group, view: View): Problem | null {
  const { clause, group } = placed;
  const rest = top.clauses.filter((other) => other !== clause && other.node !== null);
  if (clause.occur === 'prohibited') {
    return {
      message: '`recent:` cannot be negated. Use `publish_time:[* TO …}` for older pages.',
      fixes: [],
    };
  }
  if (group !== top) {
    const message = '`recent:` filters the whole rule, so it belongs on the top level, joined by AND.';
    return { message, fixes: moveToEnd(placed, view) };
  }
  if (rest.length === 0) {
    return { message: '`recent:` alone would match every new page. Add what to look for.', fixes: [] };
  }
  const joined = top.clauses.every(
    (other, index) =>
      index === 0 || other.conjunction?.kind === 'and' || (other !== clause && isAfter(other)),
  );
  if (joined) return null;
  const message = '`recent:` must be joined by AND to all the rest. Put the alternatives in parentheses.';
  return { message, fixes: moveToEnd(placed, view) };
}

/** In a group that is one side of an OR, it was meant for that group alone, which the platform cannot do. */
function isInAlternative({ clause, group }: PlacedClause, { top, groups }: View): boolean {
  const [at] = clause.span;
  return (
    group !== top &&
    groups.some(
      ({ span, clauses }) =>
        span[0] <= at && at < span[1] && clauses.some(({ conjunction }) => conjunction?.kind === 'or'),
    )
  );
}

/** `-x` and `NOT x` need no AND in front of them. */
function isAfter(clause: Group['clauses'][number]): boolean {
  return clause.modifier?.kind === 'prohibit' && clause.conjunction === null;
}

function moveToEnd(placed: PlacedClause, view: View): Fix[] {
  const [cut] = removal(placed)[0]?.edits ?? [];
  if (cut === undefined) return [];
  const clause = source(view, placed.clause.span);
  const rest = (view.text.slice(0, cut.span[0]) + view.text.slice(cut.span[1])).trim();
  const isOne = placed.group === view.top && view.top.clauses.length === 2;
  const text = `${isOne ? rest : `(${rest})`} AND ${clause.replace(/^\+/, '')}`;
  const fix = replace('Apply it to the whole rule', [0, view.text.length], text);
  return [isInAlternative(placed, view) ? fix : certain(fix)];
}
