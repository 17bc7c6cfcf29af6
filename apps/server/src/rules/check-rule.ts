import {
  differingOptions,
  type Platform,
  type RequestOf,
  type RuleExamples,
  type Violation,
  type WireDiagnostic,
} from '@earshot/contract';
import type { JudgedExample } from '@earshot/query';
import type { Principal } from '../accounts/call.ts';
import { judgeInWorker } from '../language/judge-examples.ts';
import { checkValue, type Tiers, toViolation, toWireSpan } from '../language/rule-language.ts';
import { badField, Failure } from '../runtime/failure.ts';
import type { RuleValue } from '../slots/slot-holding.sql.ts';
import { platforms as platformTraits } from '../upstream/platforms.ts';

export interface CheckedRule {
  readonly values: RuleValue[];
  readonly warnings: ReadonlyMap<Platform, WireDiagnostic[]>;
}

/**
 * Throws with every error of every query, and every suspicious finding that is not accepted, so that the caller can correct all of
 * them at once.
 */
export function checkRule(
  rule: Pick<RequestOf<'CreateRule'>, 'overrides' | 'options' | 'accept_suspicious'> & {
    readonly platforms: readonly Platform[];
  },
  tiers: Tiers = {},
): CheckedRule {
  const { platforms, overrides, options = {}, accept_suspicious: acceptSuspicious = false } = rule;
  const values: RuleValue[] = [];
  const warnings = new Map<Platform, WireDiagnostic[]>();
  const violations: Violation[] = [];
  for (const platform of platforms) {
    const value = overrides[platform] ?? '';
    const { canonical, diagnostics } = checkValue(platform, value, tiers);
    const isRefused = ({ severity }: WireDiagnostic) =>
      severity === 'error' || (severity === 'suspicious' && !acceptSuspicious);
    violations.push(...diagnostics.filter(isRefused).map((one) => toViolation(platform, one)));
    warnings.set(
      platform,
      diagnostics.filter((one) => !isRefused(one)),
    );
    if (canonical !== null)
      values.push({
        platform,
        value,
        translatedValue: canonical,
        options: differingOptions(platform, options) ?? {},
      });
  }
  const [first] = violations;
  if (first) {
    const isSuspicious = violations.every(({ severity }) => severity === 'suspicious');
    const accept = isSuspicious ? ' If you mean it as it is, send "accept_suspicious": true.' : '';
    throw new Failure('invalid_argument', `${first.field}: ${first.message}${accept}`, {
      details: { violations },
    });
  }
  return { values, warnings };
}

export function assertPlanAllows({ plan }: Principal, platforms: readonly Platform[]): void {
  if (plan === 'paid') return;
  const platform = platforms.find((one) => platformTraits[one].needsPaidPlan);
  if (platform === undefined) return;
  throw new Failure('permission_denied', `Rules on "${platform}" need a paid plan.`, {
    details: { plan, platform },
  });
}

/** Undefined stays undefined: the request does not contain it. */
export function checkExpiry(expiresAt: string | null | undefined): Date | null | undefined {
  if (typeof expiresAt !== 'string') return expiresAt;
  const at = new Date(expiresAt);
  if (at.getTime() > Date.now()) return at;
  throw badField('expires_at', 'Must be a time in the future, or null for a rule that does not expire.');
}

export interface CheckedExamples {
  readonly violations: readonly Violation[];
  readonly failing: ReadonlySet<Platform>;
  /** For examples that lack the information to decide whether the query matches them. */
  readonly warnings: ReadonlyMap<Platform, readonly WireDiagnostic[]>;
}

type Overrides = Readonly<Partial<Record<Platform, string | undefined>>>;

/** The spans of violations and warnings refer to the platform's query. */
export async function checkExamples(
  accountId: string,
  overrides: Overrides,
  examples: RuleExamples,
  invalid?: ReadonlySet<Platform>,
): Promise<CheckedExamples> {
  const judged = await judgeInWorker(accountId, { overrides, examples, invalid });
  const failing = judged.filter(({ outcome }) => outcome === 'fails' || outcome === 'misplaced');
  return {
    violations: failing.map(exampleViolation),
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

function exampleViolation(judged: JudgedExample): Violation {
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
    const { platform } = judged;
    const all = warnings.get(platform) ?? [];
    warnings.set(platform, all);
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
  return `examples.${expectation}[${index}]`;
}
