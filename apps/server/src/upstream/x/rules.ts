import { z } from 'zod';
import type { UpstreamAnswer, UpstreamClient } from '../client.ts';
import {
  type AddOutcome,
  type NewUpstreamRule,
  refusedRuleCall,
  type UpstreamCall,
  type UpstreamRule,
  type UpstreamRules,
  type UpstreamUnavailable,
} from '../upstream-rules.ts';
import { endingOfX, problemIn, problemOf, problemType, wordsAfterColon } from './ending.ts';

const path = '/2/tweets/search/stream/rules';
const rulesPerCall = 100;
const windowMs = 15 * 60_000;

const ruleSchema = z.looseObject({ id: z.string(), value: z.string(), tag: z.string().nullish() });
const listSchema = z.looseObject({
  data: z.array(ruleSchema).nullish(),
  meta: z.looseObject({ next_token: z.string().nullish() }).nullish(),
});
const ruleErrorSchema = z.looseObject({
  value: z.string().nullish(),
  type: z.string().nullish(),
  title: z.string().nullish(),
  detail: z.string().nullish(),
  details: z.array(z.string()).nullish(),
});
const addSchema = z.looseObject({
  data: z.array(ruleSchema).nullish(),
  errors: z.array(ruleErrorSchema).nullish(),
});

/** Numbers in one API version, strings in another. */
const tally = z.union([z.number(), z.string().regex(/^[0-9]+$/)]).transform(Number);
const countsSchema = z.looseObject({
  data: z.looseObject({
    cap_per_client_app: tally,
    client_app_rules_count: z.looseObject({ rule_count: tally }),
    cap_per_project: tally.nullish(),
    project_rules_count: tally.nullish(),
  }),
});

type RuleError = z.output<typeof ruleErrorSchema>;

/** X's rule set. Bodies decide, not statuses: a refusal may be in a 200, a duplicate in a 201. */
export function createXRules(client: UpstreamClient, { pace = 1 } = {}): UpstreamRules {
  return {
    batchMax: rulesPerCall,
    rulesPerCall,
    limits: {
      read: { bucket: 'read', calls: 450, windowMs: windowMs / pace },
      change: { bucket: 'change', calls: 100, windowMs: windowMs / pace },
    },
    list: (call) => list(client, call),
    add: (rules, call) => add(client, rules, call),
    async remove(ids, { permit, signal }) {
      await permit('change');
      const answer = await client.call('POST', path, { body: { delete: { ids } }, signal });
      if (answer.status !== 200) throw unavailable(answer);
    },
    room: (call) => room(client, call),
  };
}

/** Both caps apply: that of the app, and that of the project, which other apps may use up. */
async function room(client: UpstreamClient, { permit, signal }: UpstreamCall): Promise<number | null> {
  await permit('read');
  const answer = await client.call('GET', `${path}/counts`, { signal });
  const counts = countsSchema.safeParse(answer.body);
  if (answer.status !== 200 || !counts.success) return null;
  const { data } = counts.data;
  const ofApp = data.cap_per_client_app - data.client_app_rules_count.rule_count;
  const ofProject = (data.cap_per_project ?? Number.POSITIVE_INFINITY) - (data.project_rules_count ?? 0);
  return Math.max(0, Math.min(ofApp, ofProject));
}

async function list(client: UpstreamClient, { permit, signal }: UpstreamCall): Promise<UpstreamRule[]> {
  const rules: UpstreamRule[] = [];
  let token: string | null = null;
  do {
    const query: string = token === null ? '' : `&pagination_token=${encodeURIComponent(token)}`;
    await permit('read');
    const answer = await client.call('GET', `${path}?max_results=1000${query}`, { signal });
    if (answer.status !== 200) throw unavailable(answer);
    const page = listSchema.safeParse(answer.body);
    if (!page.success) throw unavailable(answer);
    for (const { id, value, tag } of page.data.data ?? []) rules.push({ id, value, tag: tag ?? null });
    token = page.data.meta?.next_token ?? null;
  } while (token !== null);
  return rules;
}

async function add(
  client: UpstreamClient,
  rules: readonly NewUpstreamRule[],
  call: UpstreamCall,
): Promise<AddOutcome[]> {
  await call.permit('change');
  const answer = await client.call('POST', path, {
    body: { add: rules.map(({ value, tag }) => ({ value, tag })) },
    signal: call.signal,
  });
  if (problemIn(answer.body, 'rule-cap')) {
    return rules.map(() => ({ kind: 'full', words: 'RulesCapExceeded' }));
  }
  const wellFormed = answer.status === 200 || answer.status === 201 || answer.status === 400;
  if (!wellFormed) throw unavailable(answer);
  const body = addSchema.safeParse(answer.body);
  const outcomes = rules.map((rule) => (body.success ? outcomeOf(rule, body.data) : null));
  const unclear = rules.filter((_, index) => outcomes[index] === null);
  // It is undocumented whether X creates the valid rules of a batch with an invalid one, so they are sent again
  // without it.
  const again = unclear.length > 0 && rules.length > 1 ? await addAgain(client, rules, unclear, call) : [];
  return outcomes.map(
    (outcome) => outcome ?? again.shift() ?? { kind: 'refused', words: wordsOf(firstError(answer)) },
  );
}

/** Calls are scarce: unclear rules are sent in one call, or in two if all are unclear. */
async function addAgain(
  client: UpstreamClient,
  rules: readonly NewUpstreamRule[],
  unclear: readonly NewUpstreamRule[],
  call: UpstreamCall,
): Promise<AddOutcome[]> {
  if (unclear.length < rules.length) return await add(client, unclear, call);
  const half = Math.ceil(unclear.length / 2);
  return [
    ...(await add(client, unclear.slice(0, half), call)),
    ...(await add(client, unclear.slice(half), call)),
  ];
}

function outcomeOf(rule: NewUpstreamRule, body: z.output<typeof addSchema>): AddOutcome | null {
  // Compared by tag, because X may normalise the query.
  const added = body.data?.find(({ tag, value }) => (tag ? tag === rule.tag : value === rule.value));
  if (added) return { kind: 'added', id: added.id };
  const error = body.errors?.find(({ value }) => value === rule.value);
  if (!error) return null;
  return problemType(error.type) === 'duplicate-rules'
    ? { kind: 'duplicate' }
    : { kind: 'refused', words: wordsOf(error) };
}

function firstError(answer: UpstreamAnswer): RuleError {
  const body = addSchema.safeParse(answer.body);
  const problem = ruleErrorSchema.safeParse(answer.body);
  return (body.success ? body.data.errors?.[0] : undefined) ?? (problem.success ? problem.data : {});
}

function wordsOf(error: RuleError): string {
  const words = error.details?.join(' ') || error.detail || error.title || 'no reason given';
  return words.slice(0, 1_000);
}

function unavailable({ status, body, retryAfterMs }: UpstreamAnswer): UpstreamUnavailable {
  const problem = problemOf(body);
  const { kind } = endingOfX(problem, { status, retryAfterMs });
  const message = `X answered ${status} to a rule call${wordsAfterColon(problem)}`;
  return refusedRuleCall(message, { kind, retryAfterMs });
}
