import { platforms as platformNames, type Rule, type RuleRelevance } from '@earshot/contract';
import type { Sql } from '../engines/database.ts';
import { Failure } from '../runtime/failure.ts';
import type { Placement } from '../slots/slot-holding.sql.ts';
import { platforms } from '../upstream/platforms.ts';

/** The same answer, to the byte, for an unknown id, a deleted rule and another account's rule (I7). */
export function noSuchRule(): Failure {
  return new Failure('not_found', 'The rule does not exist. List your rules to see their ids.');
}

/** Throws unless the account has all these rules. */
export async function refuseUnknownRules(
  sql: Pick<Sql, 'one'>,
  accountId: string,
  ruleIds: readonly string[],
): Promise<void> {
  const known = await sql.one<{ count: number }>(
    `select count(*) from rules where id = any($1) and account_id = $2 and state not in ('creating', 'deleted')`,
    [ruleIds, accountId],
  );
  if (known?.count !== ruleIds.length) throw noSuchRule();
}

/** Makes a check that throws unless the account has the rule. */
export function createAssertRule(rules: {
  exists(accountId: string, ruleId: string): Promise<boolean>;
}): (accountId: string, ruleId: string) => Promise<void> {
  return async (accountId, ruleId) => {
    if (!(await rules.exists(accountId, ruleId))) throw noSuchRule();
  };
}

export function changeUnderWay(): Failure {
  return new Failure('aborted', 'Another change of this rule is in progress. Send the request again.', {
    details: { reason: 'conflict' },
  });
}

export function budgetReached(resumesAt: Date | null): Failure {
  const until =
    resumesAt === null
      ? ''
      : `, or wait until ${resumesAt.toISOString().slice(0, 16).replace('T', ' ')} UTC, when it resumes automatically`;
  return new Failure(
    'failed_precondition',
    `The rule is paused because a budget is reached. Raise the budget of the rule, its key or the account${until}.`,
    { details: { reason: 'budget_reached' } },
  );
}

/** Throws if the rule was changed after the caller had read it: the requested change may be wrong now. */
export function assertVersion(version: number, ifVersion: number | undefined): void {
  if (ifVersion === undefined || version === ifVersion) return;
  throw new Failure(
    'failed_precondition',
    `The rule was changed: it has version ${version}, not ${ifVersion}. Read it again, then decide.`,
    { details: { reason: 'version_changed' } },
  );
}

export type ManagedBy = Rule['managed_by'];

export function managedKeyTaken({ set, key }: NonNullable<ManagedBy>): Failure {
  return new Failure(
    'already_exists',
    `The set "${set}" already has a rule "${key}", or one is being created. List your rules to see it.`,
  );
}

export type PlacementRefusal =
  | { readonly kind: 'premium_limit'; readonly used: number }
  | Exclude<Placement, { kind: 'taken' }>;

/** The reason why there is no room for a rule. */
export function placementRefusal(outcome: PlacementRefusal, limit: number, contact: string): Failure {
  switch (outcome.kind) {
    case 'premium_limit': {
      const premium = platformNames.filter((name) => platforms[name].ruleType === 'premium');
      const [platform] = premium;
      return new Failure(
        'resource_exhausted',
        `The account has ${outcome.used} of ${limit} rules on ${premium.join(', ')}. Delete one, or ask ${contact} for more.`,
        {
          details: {
            reason: 'plan_limit',
            limit,
            used: outcome.used,
            ...(platform && { platform }),
            contact,
          },
        },
      );
    }
    case 'no_source': {
      const what = 'The operator must configure a credential and restart.';
      return new Failure(
        'failed_precondition',
        `This installation has no credential for ${outcome.platform}. ${what}`,
        { details: { platform: outcome.platform, reason: 'credentials', what_to_do: what } },
      );
    }
    case 'slots_share': {
      const { limit: share, used, platform } = outcome;
      return new Failure(
        'resource_exhausted',
        `The account has ${used} of the ${share} upstream rules of ${platform} that one account may have now. Delete one, or ask ${contact} for more.`,
        { details: { reason: 'share', limit: share, used, platform, contact } },
      );
    }
    case 'calls_share': {
      const waitSeconds = Math.ceil(outcome.waitMs / 1_000);
      return new Failure(
        'resource_exhausted',
        `The account has used its share of the rule changes that ${outcome.platform} allows. Wait ${waitSeconds} s. Rules that you create at the same time share a change.`,
        {
          details: { reason: 'rate_limit', platform: outcome.platform, contact },
          retryAfterSeconds: waitSeconds,
        },
      );
    }
    case 'sources_full': {
      const { capacity, platform } = outcome;
      return new Failure(
        'resource_exhausted',
        `All ${capacity} upstream rules of ${platform} are in use. Ask ${contact} for more.`,
        { details: { reason: 'capacity', limit: capacity, used: capacity, platform, contact } },
      );
    }
  }
}

/** A rule that relies on verdicts must not be accepted where there are none. */
export function assertJudge(
  relevance: RuleRelevance | null | undefined,
  { hasJudge, contact }: { readonly hasJudge: boolean; readonly contact: string },
): void {
  if (!relevance?.judge || hasJudge) return;
  throw new Failure(
    'failed_precondition',
    `This installation has no judge. Omit "relevance", or ask ${contact} to set EARSHOT_JUDGE_URL.`,
    { details: { reason: 'not_configured', contact } },
  );
}
