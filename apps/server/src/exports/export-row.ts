import type { ExportedMatch, Match } from '@earshot/contract';

/** The columns of every format, in this order. */
export const columns = [
  'id',
  'created_at',
  'rule_id',
  'rule_version',
  'rule_name',
  'platform',
  'platform_post_id',
  'via',
  'url',
  'title',
  'text',
  'author_id',
  'author_name',
  'author_handle',
  'published_at',
  'language',
  'verdict',
  'verdict_by',
  'muted_by',
  'raw',
] as const satisfies readonly (keyof ExportedMatch)[];

export function toRow(match: Omit<Match, 'why'>, ruleName: string): ExportedMatch {
  const { payload, relevance } = match;
  const { author } = payload;
  return {
    id: match.id,
    created_at: match.created_at,
    rule_id: match.rule_id,
    rule_version: match.rule_version,
    rule_name: readable(ruleName),
    platform: match.platform,
    platform_post_id: readable(match.platform_post_id),
    via: match.via,
    url: readable(payload.url),
    title: readable(payload.title),
    text: readable(payload.text),
    author_id: readable(author?.id ?? null),
    author_name: readable(author?.name ?? null),
    author_handle: readable(author?.handle ?? null),
    published_at: payload.published_at,
    language: readable(payload.language),
    verdict: relevance?.verdict ?? null,
    verdict_by: relevance?.by ?? null,
    muted_by: match.muted_by ?? null,
    // JSON escapes what is not valid in a text, so `raw` is exact.
    raw: JSON.stringify(payload.raw),
  };
}

/** UTF-8 has no lone surrogates, and some readers end a text at NUL. */
function readable<Text extends string | null>(text: Text): Text | string {
  return text === null ? text : text.toWellFormed().replaceAll('\0', '\uFFFD');
}
