import { listedPlatforms, type Preview, type RequestOf, type Rule } from '@earshot/contract';
import type { Call, Handler, Principal } from '../accounts/call.ts';
import { itemPrice } from '../billing/prices.ts';
import { explainMatch, type ParsedRules } from '../language/explain-match.ts';
import { withItemJudge } from '../language/judge-items.ts';
import type { Tiers } from '../language/rule-language.ts';
import { assertPlanAllows, checkRule } from '../rules/check-rule.ts';
import { readRule } from '../rules/get-rule.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import { createTurns } from '../runtime/concurrency.ts';
import { Failure } from '../runtime/failure.ts';
import { matchIdOf } from '../runtime/ids.ts';
import type { RuleValue } from '../slots/slot-holding.sql.ts';
import type { UpstreamSettings } from '../upstream/platforms.ts';
import type { NotCounted } from './count-items.ts';
import { seenMatches } from './estimate.ts';
import { type EstimateValueOptions, readKnowledge } from './estimate-value.ts';
import { type Basis, fromStoredItems, toEstimate } from './estimate-volume.ts';
import { type EvaluatedItems, evaluateItems } from './evaluate-items.ts';
import { createStoredItems, type StoredItem } from './stored-items.sql.ts';

export interface PreviewRuleOptions extends EstimateValueOptions {
  readonly nowMs: () => number;
  readonly rules: Pick<RuleStore, 'get'>;
  readonly tiers: Tiers;
  readonly parsedRules: ParsedRules;
  readonly config: UpstreamSettings & { readonly retentionDays: number };
}

type Request = RequestOf<'PreviewRule'>;
type PreviewCall = Pick<Call<'PreviewRule'>, 'principal' | 'request'>;

const dayMs = 86_400_000;
/** For evaluating items, on all platforms together. With the rest, a preview takes less than 2 s. */
const evaluationMsMax = 1_200;
/** Limits the matches that are shown: web pages can be large. */
const shownBytesMax = 256 * 1024;

/** Shows what a query would match, from what the account itself has stored. Nothing is created. */
export function previewRule(options: PreviewRuleOptions): Handler<'PreviewRule'> {
  const { tiers, rules, config } = options;
  return async ({ principal, request }: PreviewCall) => {
    const platforms = listedPlatforms(request);
    const { values, warnings } = checkRule({ ...request, platforms, accept_suspicious: true }, tiers);
    assertPlanAllows(principal, platforms);
    assertKept(request.days, config.retentionDays);
    const { accountId } = principal;
    const { rule_id: ruleId } = request;
    const rule = ruleId === undefined ? null : await readRule(rules, { accountId, ruleId });
    const previews: Awaited<ReturnType<Handler<'PreviewRule'>>>['platforms'] = {};
    for (const value of values)
      previews[value.platform] = await previewOn(options, {
        principal,
        request,
        rule,
        value,
        warnings: warnings.get(value.platform) ?? [],
        evaluationMs: evaluationMsMax / values.length,
      });
    return { platforms: previews };
  };
}

interface PlatformCall extends PreviewCall {
  readonly rule: Rule | null;
  readonly value: RuleValue;
  readonly warnings: Preview['warnings'];
  readonly evaluationMs: number;
}

async function previewOn(options: PreviewRuleOptions, call: PlatformCall): Promise<Preview> {
  const { principal, request, rule, value } = call;
  const { platform, translatedValue } = value;
  const nowMs = options.nowMs();
  const since = new Date(nowMs - request.days * dayMs);
  const { accountId } = principal;
  const [evaluation, known] = await Promise.all([
    evaluate(options, call, since),
    readKnowledge(options, { accountId, value, since, nowMs }),
  ]);
  const basis =
    'basis' in known.basis ? known.basis : withReason(fromStoredItems(evaluation, nowMs), known.basis);
  const { evaluated, scale, matchedAt, undecided } = evaluation;
  const stored = seenMatches(matchedAt, nowMs);
  // A history has the platform's own verdict on the same items.
  const hasMoreStored = basis.basis !== 'history' && stored.lastDay > known.seen.lastDay;
  const isSampled = scale > 1;
  return {
    translated_value: translatedValue,
    warnings: unansweredBy(basis, call.warnings),
    estimate: toEstimate(basis, {
      seen: hasMoreStored ? stored : known.seen,
      nowMs,
      price: itemPrice(options.prices, options.config, platform),
    }),
    sample: {
      evaluated,
      stored: Math.round(evaluated * scale),
      is_sampled: isSampled,
      matched: matchedAt.length,
      undecided,
      matches: mayReadMatches(principal) ? await toShown(options.parsedRules, value, evaluation.shown) : [],
    },
    ...(rule?.platforms[platform] && {
      against: {
        added: Math.round(evaluation.added * scale),
        removed: Math.round(evaluation.removed * scale),
        undecided: Math.round(evaluation.incomparable * scale),
        is_estimate: isSampled,
      },
    }),
  };
}

/** An estimate that counted the matches answers the warning that there may be very many. */
function unansweredBy({ basis }: Basis, warnings: Preview['warnings']): Preview['warnings'] {
  const isCounted = basis === 'counts' || basis === 'history' || basis === 'trial';
  return warnings.filter(
    ({ code, severity }) => !(isCounted && code === 'broad_rule' && severity === 'warning'),
  );
}

async function evaluate(
  { database }: PreviewRuleOptions,
  { principal, rule, value, evaluationMs }: PlatformCall,
  since: Date,
): Promise<EvaluatedItems> {
  const { accountId } = principal;
  const { platform, translatedValue } = value;
  return await withItemJudge(accountId, (judge) =>
    evaluateItems(
      { accountId, platform, since, rule: rule && { id: rule.id, version: rule.version } },
      {
        items: createStoredItems(database),
        judge,
        value: translatedValue,
        formerValue: rule?.platforms[platform]?.translated_value ?? null,
        endsAtMs: performance.now() + evaluationMs,
        random: Math.random,
      },
    ),
  );
}

function withReason(basis: Basis, { notCounted }: NotCounted): Basis {
  if (notCounted === null) return basis;
  return { ...basis, note: `${basis.note} The platform’s counts do not help: ${notCounted}.` };
}

/** Numbers require `rules:read`. The items themselves are matches and require `matches:read`. */
function mayReadMatches({ scopes }: Principal): boolean {
  return scopes.includes('matches:read');
}

async function toShown(
  parsedRules: ParsedRules,
  { platform, translatedValue }: RuleValue,
  items: readonly StoredItem[],
): Promise<Preview['sample']['matches']> {
  const nextTurn = createTurns();
  const shown: Preview['sample']['matches'] = [];
  let bytes = 0;
  for (const { position, ruleId, createdAt, platformPostId, payload: text } of items) {
    bytes += text.length;
    if (shown.length > 0 && bytes > shownBytesMax) break;
    await nextTurn();
    const payload = JSON.parse(text);
    shown.push({
      id: matchIdOf(position),
      rule_id: ruleId,
      created_at: createdAt.toISOString(),
      platform,
      platform_post_id: platformPostId,
      payload,
      why: explainMatch(parsedRules, { platform, value: translatedValue, raw: payload.raw }),
    });
  }
  return shown;
}

function assertKept(days: Request['days'], retentionDays: number): void {
  if (days <= retentionDays) return;
  const message = `Must be at most ${retentionDays}: matches are kept for so many days.`;
  throw new Failure('invalid_argument', `days: ${message}`, {
    details: { violations: [{ field: 'days', code: 'invalid_value', message }] },
  });
}
