/**
 * Limits the cost of one evaluation. Rules and items are untrusted, and the evaluation runs in the event loop of a shared
 * server. So all work that grows with the rule or the item is charged in steps before it is done. One step is about ten
 * nanoseconds. Clauses that are undecided when the steps are spent are `unknown`.
 *
 * An evaluation is synchronous, so the current one can be a variable of the module. Outside of an evaluation nothing is
 * charged: parsing and validation are bounded by the length of the rule.
 */
const stepsMax = 300_000;

/** Limits one regular expression in one evaluation, so that the other clauses of the rule have steps left. */
export const patternStepsMax = stepsMax / 4;

export const tooMuchWork = 'deciding this would take too long';

/** Never shown. One object without a stack, because an evaluation that is over its budget throws it for every leaf. */
const overBudget = new Error('over the budget of the evaluation');

interface Evaluation {
  stepsLeft: number;
  /** Whether some work was skipped because it would have cost more than the remaining steps. */
  isShort: boolean;
  readonly atEnd: (() => void)[];
}

let current: Evaluation | null = null;

/** Runs an evaluation with its own budget. A nested evaluation shares the budget of the outer one. */
export function withBudget<Result>(
  evaluate: () => Result,
  ifSpent: () => Result,
  steps = stepsMax,
  onShort?: () => void,
): Result {
  const isOuter = current === null;
  const evaluation = (current ??= { stepsLeft: steps, isShort: false, atEnd: [] });
  try {
    return evaluate();
  } catch (error) {
    if (error !== overBudget) throw error;
    return ifSpent();
  } finally {
    if (isOuter) {
      current = null;
      if (evaluation.isShort) onShort?.();
      for (const forget of evaluation.atEnd) forget();
    }
  }
}

/** How many of its next evaluations a rule that went over its budget has to do with less. */
const evaluationsWithLess = 100;
const lessSteps = stepsMax / 8;
const withLess = new WeakMap<object, number>();

/** The evaluation of a rule: one that keeps going over its budget costs an eighth of it, which is plenty for ordinary items. */
export function withBudgetOf<Result>(rule: object, evaluate: () => Result, ifSpent: () => Result): Result {
  const left = withLess.get(rule) ?? 0;
  if (left === 0)
    return withBudget(evaluate, ifSpent, stepsMax, () => withLess.set(rule, evaluationsWithLess));
  withLess.set(rule, left - 1);
  return withBudget(evaluate, ifSpent, lessSteps);
}

/**
 * Charges work before it is done; ends the innermost `withBudget` when the evaluation cannot afford it. What was not done
 * costs nothing, so that cheaper parts can still be decided.
 */
export function spend(steps: number): void {
  if (current === null) return;
  if (steps > current.stepsLeft) {
    current.isShort = true;
    throw overBudget;
  }
  current.stepsLeft -= steps;
}

/** Called when the current evaluation ends, to let go of what was only needed for it. */
export function atEndOfEvaluation(forget: () => void): void {
  current?.atEnd.push(forget);
}

/** Runs a part of an evaluation that may spend at most `share`; its result is null when that was not enough. */
export function withShare<Result>(
  share: number,
  run: () => Result,
): { readonly result: Result | null; readonly spent: number } {
  const outer = current;
  const available = outer?.stepsLeft ?? Number.POSITIVE_INFINITY;
  const granted = Math.min(share, available);
  const part: Evaluation = { stepsLeft: granted, isShort: false, atEnd: outer?.atEnd ?? [] };
  current = part;
  try {
    const result = run();
    return { result, spent: granted - part.stepsLeft };
  } catch (error) {
    if (error !== overBudget || available <= share) throw error;
    return { result: null, spent: share };
  } finally {
    current = outer;
    if (outer !== null) {
      outer.stepsLeft -= granted - part.stepsLeft;
      outer.isShort ||= part.isShort;
    }
  }
}
