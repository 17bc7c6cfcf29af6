import type { Platform, RequestOf, Violation, WireDiagnostic } from '@earshot/contract';
import type { Principal } from '../accounts/call.ts';
import type { Plan } from '../accounts/plans.ts';
import { checkValue, toViolation } from '../language/rule-language.ts';
import { Failure } from '../runtime/failure.ts';
import type { NewRuleValue } from './rule-store.ts';

export interface CheckedRule {
  readonly values: NewRuleValue[];
  readonly warnings: ReadonlyMap<Platform, WireDiagnostic[]>;
}

/** Throws with every error of every value, so that a rule is mended in one go. */
export function checkRule({
  platforms,
  overrides,
}: Pick<RequestOf<'CreateRule'>, 'platforms' | 'overrides'>): CheckedRule {
  const values: NewRuleValue[] = [];
  const warnings = new Map<Platform, WireDiagnostic[]>();
  const violations: Violation[] = [];
  for (const platform of platforms) {
    const value = overrides[platform] ?? '';
    const { canonical, diagnostics } = checkValue(platform, value);
    const isError = ({ severity }: WireDiagnostic) => severity === 'error';
    violations.push(...diagnostics.filter(isError).map((one) => toViolation(platform, one)));
    warnings.set(
      platform,
      diagnostics.filter((one) => !isError(one)),
    );
    if (canonical !== null) values.push({ platform, value, translatedValue: canonical });
  }
  const [first] = violations;
  if (first)
    throw new Failure('invalid_argument', `${first.field}: ${first.message}`, { details: { violations } });
  return { values, warnings };
}

/** Regular rules need a paid plan. */
export function assertPlanAllows(principal: Principal, plan: Plan, platforms: readonly Platform[]): void {
  if (plan.paid || !platforms.includes('firehose')) return;
  throw new Failure('permission_denied', 'Rules on "firehose" need a paid plan.', {
    details: { plan: principal.plan, platform: 'firehose' },
  });
}

/** Undefined stays undefined: nothing was said about it. */
export function checkExpiry(expiresAt: string | null | undefined): Date | null | undefined {
  if (typeof expiresAt !== 'string') return expiresAt;
  const at = new Date(expiresAt);
  if (at.getTime() > Date.now()) return at;
  const message = 'Must be a time in the future, or null for a rule that does not expire.';
  throw new Failure('invalid_argument', `expires_at: ${message}`, {
    details: { violations: [{ field: 'expires_at', code: 'invalid_value', message }] },
  });
}
