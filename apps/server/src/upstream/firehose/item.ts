import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Item, type Reading, storableText } from '../item.ts';

const optionalText = z.string().nullish();

const updateSchema = z.looseObject({
  query_ids: z.array(storableText).nullish(),
  /** The beta named one rule per event. */
  query_id: storableText.nullish(),
  matched_at: z.string(),
  document: z.looseObject({
    url: storableText,
    title: optionalText,
    publish_time: optionalText,
    language: optionalText,
    diff: z
      .looseObject({ chunks: z.array(z.looseObject({ typ: z.string(), text: z.string() })).nullish() })
      .nullish(),
    markdown: optionalText,
  }),
});

type Update = z.output<typeof updateSchema>;

/** The id is sent back as a header and is part of a message id, so others cannot be used to resume. */
export const eventIdPattern = /^[\x21-\x7e]{1,200}$/;

/** The data of one `update` frame (firehose.md §7). */
export function readFirehoseUpdate(sourceId: string, upstreamEventId: string, text: string): Reading {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return { kind: 'dropped', reason: 'not_json' };
  }
  const parsed = updateSchema.safeParse(json);
  if (!parsed.success || !eventIdPattern.test(upstreamEventId)) {
    return { kind: 'dropped', reason: 'unknown_shape' };
  }
  const update = parsed.data;
  const matchedAt = Date.parse(update.matched_at);
  if (Number.isNaN(matchedAt)) return { kind: 'dropped', reason: 'unknown_shape' };
  const { document } = update;
  const ruleIds = update.query_ids ?? (update.query_id ? [update.query_id] : []);
  return {
    kind: 'item',
    item: {
      platform: 'firehose',
      sourceId,
      upstreamEventId,
      key: itemKey(update),
      day: new Date(matchedAt).toISOString().slice(0, 10),
      platformPostId: document.url,
      rules: ruleIds.map((upstreamRuleId) => ({ upstreamRuleId, tag: null })),
      payload: {
        url: document.url,
        title: document.title ?? null,
        text: addedText(update),
        author: null,
        published_at: publishedAt(document.publish_time),
        language: document.language ?? null,
        raw: { matched_at: update.matched_at, document },
      },
    },
  };
}

export function matchedAt({ payload }: Item): Date | null {
  const at = Date.parse(String(payload.raw['matched_at']));
  return Number.isNaN(at) ? null : new Date(at);
}

/** The key of a page change: the same on every token and after a replay. */
function itemKey({ document }: Update): string {
  const content = [
    document.url,
    document.title ?? null,
    document.publish_time ?? null,
    (document.diff?.chunks ?? []).map(({ typ, text }) => [typ, text]),
  ];
  return createHash('sha256').update(JSON.stringify(content)).digest('base64url').slice(0, 22);
}

function addedText({ document }: Update): string | null {
  const added = (document.diff?.chunks ?? []).filter(({ typ }) => typ === 'ins').map(({ text }) => text);
  return added.length > 0 ? added.join('\n') : (document.markdown ?? null);
}

/** A local time without a zone (firehose.md §7.2). Read as UTC, which is the same everywhere. */
function publishedAt(text: string | null | undefined): string | null {
  if (!text) return null;
  const time = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** Removes the text of the whole page, which some Firehose plans send and which is most of a large item. */
export function withoutPageText(item: Item): Item {
  const document: unknown = item.payload.raw['document'];
  if (typeof document !== 'object' || document === null || !('markdown' in document)) return item;
  const { markdown, ...kept } = document;
  const raw = { ...item.payload.raw, document: kept };
  const text = item.payload.text === markdown ? null : item.payload.text;
  return { ...item, payload: { ...item.payload, text, raw } };
}
