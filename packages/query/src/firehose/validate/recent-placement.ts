import { certain, error, type Fix, replace } from '../../diagnostics.ts';
import type { Group } from '../surface.ts';
import { type PlacedClause, removal, source, type View } from './rule.ts';

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

/** In a group beside an OR, it was meant for that group alone, which the platform cannot do. */
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
