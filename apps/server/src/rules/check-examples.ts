import type { Platform, RuleExamples, Violation, WireDiagnostic } from '@earshot/contract';
import { type JudgedExample, judgeExamples } from '@earshot/query';
import { toWireSpan } from '../language/rule-language.ts';
import { Failure } from '../runtime/failure.ts';

export interface CheckedExamples {
  readonly violations: readonly Violation[];
  readonly failing: ReadonlySet<Platform>;
  /** Of examples that do not tell enough for a verdict. */
  readonly warnings: ReadonlyMap<Platform, readonly WireDiagnostic[]>;
}

type Overrides = Readonly<Partial<Record<Platform, string | undefined>>>;

/** The spans refer to the platform's value. */
export function checkExamples(
  overrides: Overrides,
  examples: RuleExamples,
  invalid?: ReadonlySet<Platform>,
): CheckedExamples {
  const judged = judgeExamples(overrides, examples, invalid);
  const failing = judged.filter(({ outcome }) => outcome === 'fails' || outcome === 'misplaced');
  return {
    violations: failing.map(toViolation),
    failing: new Set(failing.map(({ platform }) => platform)),
    warnings: warningsOf(judged.filter(({ outcome }) => outcome === 'undecided')),
  };
}

/** Throws with every example that fails. */
export function assertExamplesHold({ violations }: CheckedExamples): void {
  const [first] = violations;
  if (first)
    throw new Failure('invalid_argument', `${first.field}: ${first.message}`, {
      details: { violations: [...violations] },
    });
}

function toViolation(judged: JudgedExample): Violation {
  return {
    field: fieldOf(judged),
    code: judged.outcome === 'misplaced' ? 'invalid_value' : 'example_failed',
    message: judged.message,
    ...(judged.clause && { span: toWireSpan(judged.clause) }),
  };
}

function warningsOf(undecided: readonly JudgedExample[]): Map<Platform, WireDiagnostic[]> {
  const warnings = new Map<Platform, WireDiagnostic[]>();
  for (const judged of undecided) {
    const all = warnings.get(judged.platform) ?? [];
    warnings.set(judged.platform, all);
    all.push({
      severity: 'warning',
      code: 'example_undecided',
      message: `${fieldOf(judged)}: ${judged.message}`,
      span: toWireSpan(judged.clause ?? [0, 0]),
      fixes: [],
    });
  }
  return warnings;
}

function fieldOf({ expectation, index }: JudgedExample): string {
  return `examples.${expectation}.${index}`;
}
