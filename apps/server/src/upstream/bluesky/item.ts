import { z } from 'zod';
import { type Item, type Reading, storableText } from '../item.ts';
import { type Commit, keyOf, timeOfId, uriOf } from './commit.ts';

/** A post that matched, as the stream passes it on. */
export interface MatchedPost {
  readonly id: string;
  readonly rules: readonly string[];
  readonly post: Pick<Commit, 'did' | 'time' | 'rkey' | 'cid' | 'record'>;
}

const matchedSchema = z.looseObject({
  id: z.string(),
  rules: z.array(z.string()),
  post: z.looseObject({
    did: storableText,
    time: z.string(),
    rkey: storableText,
    record: z.looseObject({
      text: z.string().nullish().catch(null),
      createdAt: z.string().nullish().catch(null),
      langs: z.array(z.string()).nullish().catch(null),
    }),
  }),
});

/** Clients set `createdAt`, and some set it wrongly. */
const clockMarginMs = 3_600_000;

export function readBlueskyPost(sourceId: string, text: string): Reading {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { kind: 'dropped', reason: 'not_json' };
  }
  const parsed = matchedSchema.safeParse(json);
  if (!parsed.success) return { kind: 'dropped', reason: 'unknown_shape' };
  const { id, rules, post } = parsed.data;
  const { did, rkey, record } = post;
  const uri = uriOf(post);
  const published = publishedAt(record.createdAt ?? null, Date.parse(post.time));
  if (published === null) return { kind: 'dropped', reason: 'unknown_shape' };
  return {
    kind: 'item',
    item: {
      platform: 'bluesky',
      sourceId,
      upstreamEventId: id,
      key: keyOf(uri),
      day: published.slice(0, 10),
      platformPostId: uri,
      rules: rules.map((upstreamRuleId) => ({ upstreamRuleId, tag: null })),
      payload: {
        url: `https://bsky.app/profile/${did}/post/${rkey}`,
        title: null,
        text: record.text ?? null,
        author: { id: did, name: null, handle: null },
        published_at: published,
        language: record.langs?.[0] ?? null,
        raw: post,
      },
    },
  };
}

/** The author's time if it is plausible, which is the same on every instance; otherwise the time of the instance. */
function publishedAt(createdAt: string | null, receivedMs: number): string | null {
  const createdMs = Date.parse(createdAt ?? '');
  const ms = Math.abs(createdMs - receivedMs) < clockMarginMs ? createdMs : receivedMs;
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

/** When the instance received the post. */
export const receivedAt = ({ upstreamEventId }: Item): Date | null => timeOfId(upstreamEventId);
