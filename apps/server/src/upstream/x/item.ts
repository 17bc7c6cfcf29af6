import type { MatchPayload } from '@earshot/contract';
import { z } from 'zod';
import { type Item, type MatchedRule, type Reading, storableText } from '../item.ts';
import { endingOfX, problemSchema, type XProblem } from './ending.ts';

const snowflakeEpochMs = 1_288_834_974_657n;

/** X omits absent values; its newest documents allow null. Both are accepted (x.md §4.3). */
const optionalText = z.string().nullish();
const userSchema = z.looseObject({ id: z.string(), name: optionalText, username: optionalText });

const recordSchema = z.looseObject({
  data: z.looseObject({
    id: z.string().regex(/^[0-9]{1,19}$/),
    text: z.string(),
    author_id: optionalText,
    created_at: optionalText,
    lang: optionalText,
    edit_history_tweet_ids: z.array(z.string()).nullish().catch(null),
    edit_history_post_ids: z.array(z.string()).nullish().catch(null),
    note_tweet: z.looseObject({ text: optionalText }).nullish(),
    note_post: z.looseObject({ text: optionalText }).nullish(),
  }),
  includes: z.looseObject({ users: z.array(userSchema).nullish() }).nullish(),
  matching_rules: z.array(z.looseObject({ id: storableText, tag: storableText.nullish() })).default([]),
});

type PostRecord = z.output<typeof recordSchema>;

/** The problem, wrapped in `errors` or not. */
const controlSchema = z.union([
  z.looseObject({ errors: z.tuple([problemSchema], z.unknown()) }).transform(({ errors }) => errors[0]),
  problemSchema.refine(({ title, type }) => Boolean(title ?? type)),
]);

/** A record of the filtered stream. With `data` it is a post, otherwise a control message. */
export function readXRecord(sourceId: string, text: string): Reading {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { kind: 'dropped', reason: 'not_json' };
  }
  const record = recordSchema.safeParse(json);
  if (record.success) return { kind: 'item', item: toItem(sourceId, record.data) };
  const control = controlSchema.safeParse(json);
  if (control.success && !hasData(json)) return toControl(control.data, text);
  return { kind: 'dropped', reason: 'unknown_shape' };
}

function hasData(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'data' in json;
}

const wordsLengthMax = 300;

function toControl(problem: XProblem, text: string): Reading {
  const words = problem.disconnect_type ?? problem.title ?? problem.type ?? text;
  return { kind: 'control', ending: endingOfX(problem, null), words: words.slice(0, wordsLengthMax) };
}

function toItem(sourceId: string, record: PostRecord): Item {
  const { matching_rules: matchingRules, ...raw } = record;
  const { id } = record.data;
  const rules: MatchedRule[] = matchingRules.map((rule) => ({
    upstreamRuleId: rule.id,
    tag: rule.tag ?? null,
  }));
  return {
    platform: 'x',
    sourceId,
    upstreamEventId: id,
    key: id,
    day: postedAt(id).toISOString().slice(0, 10),
    platformPostId: id,
    rules,
    payload: toPayload(record, raw),
  };
}

function toPayload({ data, includes }: PostRecord, raw: Record<string, unknown>): MatchPayload {
  const author = includes?.users?.find((user) => user.id === data.author_id);
  const handle = author?.username ?? null;
  const authorId = data.author_id ?? null;
  const [first = data.id] = data.edit_history_tweet_ids ?? data.edit_history_post_ids ?? [];
  return {
    url: `https://x.com/${handle ?? 'i'}/status/${data.id}`,
    title: null,
    // `text` of a long post is only its beginning (x.md §4.3).
    text: data.note_tweet?.text ?? data.note_post?.text ?? data.text,
    author: authorId === null ? null : { id: authorId, name: author?.name ?? null, handle },
    published_at: toTime(data.created_at) ?? postedAt(data.id).toISOString(),
    language: data.lang ?? null,
    ...(first !== data.id && { edit_of: first }),
    raw,
  };
}

/** The users and posts that X included with the post. In a thread, the post itself may be among them. */
export function includedWith({ payload, key }: Pick<Item, 'payload' | 'key'>): {
  users: string[];
  posts: string[];
} {
  const includes: unknown = payload.raw['includes'];
  if (typeof includes !== 'object' || includes === null) return { users: [], posts: [] };
  const users = 'users' in includes ? idsOf(includes.users) : [];
  const posts = 'tweets' in includes ? idsOf(includes.tweets) : [];
  return { users, posts: posts.filter((id) => id !== key) };
}

function idsOf(list: unknown): string[] {
  if (!Array.isArray(list)) return [];
  const ids = list.map((one: unknown) => (typeof one === 'object' && one && 'id' in one ? one.id : null));
  return [...new Set(ids.filter((id) => typeof id === 'string'))];
}

/** A post id is a snowflake: its upper bits are the time of posting. */
function postedAt(id: string): Date {
  return new Date(Number((BigInt(id) >> 22n) + snowflakeEpochMs));
}

function toTime(text: string | null | undefined): string | null {
  const time = text ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
