import { z } from 'zod';
import type { UpstreamAnswer, UpstreamClient } from '../client.ts';
import {
  type AddOutcome,
  type NewUpstreamRule,
  refusedRuleCall,
  type UpstreamCall,
  type UpstreamRules,
  UpstreamUnavailable,
} from '../upstream-rules.ts';
import { endingOf } from './stream.ts';

const noReason = 'no reason given';
const path = '/v1/rules';
const validatePath = '/v1/validate';
/**
 * One answer lists all rules of a token: 100,000, the default capacity, with queries of 500 characters, or 16,000 of
 * the longest.
 */
const listBytesMax = 64 * 1024 * 1024;

const ruleSchema = z.looseObject({ id: z.string(), value: z.string(), tag: z.string().nullish() });
const listSchema = z.looseObject({
  data: z.array(ruleSchema),
  meta: z.looseObject({ count: z.number().nullish() }).nullish().catch(null),
});
const addedSchema = z.looseObject({ data: z.looseObject({ id: z.string() }) });
const validSchema = z.looseObject({ valid: z.literal(true) });
const validatedSchema = z.union([z.looseObject({ data: validSchema }), validSchema]);
const errorSchema = z.looseObject({
  message: z.string().nullish(),
  error: z.looseObject({ message: z.string().nullish() }).nullish(),
  errors: z.record(z.string(), z.array(z.string())).nullish(),
});

/** The rules of a token, one per call. Duplicates are not refused, so a lost answer is resolved by listing. */
export function createFirehoseRules(client: UpstreamClient, { pace = 1 } = {}): UpstreamRules {
  // All calls of a token count together (firehose.md §4).
  const limit = { bucket: 'rules', calls: 60, windowMs: 60_000 / pace };
  return {
    batchMax: 20,
    rulesPerCall: 1,
    limits: { read: limit, change: limit },
    async list({ permit, signal }) {
      await permit('read');
      const answer = await client.call('GET', path, { bytesMax: listBytesMax, signal });
      const listed = listSchema.safeParse(answer.body);
      if (answer.status !== 200 || !listed.success) throw unavailable(answer);
      const { data, meta } = listed.data;
      // If a partial list were accepted, the missing rules would be registered again.
      if (data.length < (meta?.count ?? 0))
        throw new UpstreamUnavailable(`Firehose listed ${data.length} of its ${meta?.count} rules`);
      return data.map(({ id, value, tag }) => ({ id, value, tag: tag ?? null }));
    },
    async add(rules, call) {
      const outcomes: AddOutcome[] = [];
      for (const rule of rules) {
        const before = outcomes.at(-1);
        // Later rules would be refused too, and a token has one call per second.
        outcomes.push(before?.kind === 'full' ? before : await addOne(client, rule, call));
      }
      return outcomes;
    },
    async remove(ids, { permit, signal }) {
      for (const id of ids) {
        await permit('change');
        const answer = await client.call('DELETE', `${path}/${encodeURIComponent(id)}`, { signal });
        if (answer.status !== 204 && answer.status !== 200 && answer.status !== 404)
          throw unavailable(answer);
      }
    },
    /** Firehose does not report its limit; it shows in a refusal. */
    room: () => Promise.resolve(null),
  };
}

async function addOne(
  client: UpstreamClient,
  rule: NewUpstreamRule,
  { permit, signal }: UpstreamCall,
): Promise<AddOutcome> {
  await permit('change');
  const { options, ...named } = rule;
  const answer = await client.call('POST', path, { body: { ...named, ...options }, signal });
  if (answer.status === 422 || answer.status === 400) {
    const words = wordsOf(answer.body);
    const kind = answer.status === 422 && (await isLimit(client, rule, words, signal)) ? 'full' : 'refused';
    return { kind, words };
  }
  const added = addedSchema.safeParse(answer.body);
  if ((answer.status !== 201 && answer.status !== 200) || !added.success) throw unavailable(answer);
  return { kind: 'added', id: added.data.data.id };
}

/**
 * A 422 means a bad query or the rule limit, and only its text differs. Text alone is not trusted, reason one bad
 * rule would make the token count as full. So the query is also validated, which costs no rule call.
 */
async function isLimit(
  client: UpstreamClient,
  { value }: NewUpstreamRule,
  words: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (!/\b(?:limit|at most|maximum|too many|quota|number of rules)\b/i.test(words)) return false;
  const answer = await client.call('POST', validatePath, { body: { value }, signal });
  return answer.status === 200 && validatedSchema.safeParse(answer.body).success;
}

/** The shape of error bodies is undocumented; these are the known places, in the order of firehose.md §8. */
function wordsOf(body: unknown): string {
  const parsed = errorSchema.safeParse(body);
  if (!parsed.success) return noReason;
  const { error, message, errors } = parsed.data;
  // The message often says only that there are errors.
  const all = new Set([error?.message ?? message, ...Object.values(errors ?? {}).flat()]);
  const words = [...all].filter(Boolean).join(' ');
  return (words || noReason).slice(0, 1_000);
}

function unavailable({ status, body, retryAfterMs }: UpstreamAnswer): UpstreamUnavailable {
  const { kind } = endingOf(status, null);
  const words = wordsOf(body);
  const reason = words === noReason ? '' : `: ${words.slice(0, 300)}`;
  return refusedRuleCall(`Firehose answered ${status} to a rule call${reason}`, { kind, retryAfterMs });
}
