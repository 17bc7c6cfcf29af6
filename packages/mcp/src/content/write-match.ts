import type { Match } from '@earshot/sdk';
import { type ExcerptSize, excerptOf, type UntrustedContent } from './untrusted.ts';
import { visible } from './visible.ts';

/** A match in both forms of a tool result. */
export interface WrittenMatch {
  readonly fields: Record<string, unknown>;
  readonly lines: readonly string[];
}

/** Outside of `content`, and of the fence, is only what Earshot itself made: ids, times, platform, what was cut or not decided. */
export function writeMatch(match: Match, size: ExcerptSize, nonce: string): WrittenMatch {
  const { id, rule_id: ruleId, rule_version: version, platform, via, created_at: matchedAt } = match;
  const { content, cut } = excerptOf(match, size);
  const undecided = size.bare ? [] : undecidedOf(match);
  const notes = `${noteOf('cut', cut)}${noteOf('undecided', undecided)}`;
  return {
    fields: {
      match_id: id,
      rule_id: ruleId,
      rule_version: version,
      platform,
      via,
      matched_at: matchedAt,
      ...(cut.length === 0 ? {} : { cut }),
      ...(undecided.length === 0 ? {} : { undecided }),
      content,
    },
    lines: [
      `${id} ${ruleId} ${platform} ${matchedAt}${notes}`,
      `<untrusted-content-${nonce}>`,
      ...linesOf(content),
      `</untrusted-content-${nonce}>`,
    ],
  };
}

const undecidedMax = 3;

/** Clauses of the rule that the item does not decide: their fields, and the reasons in our words. */
function undecidedOf({ why }: Match): string[] {
  const clauses = why.undecided.map(({ field, why: reason }) => visible(`${field}: ${reason}`));
  return [...new Set(clauses)].slice(0, undecidedMax);
}

function noteOf(name: string, parts: readonly string[]): string {
  return parts.length === 0 ? '' : ` (${name}: ${parts.join(', ')})`;
}

/**
 * What a reader needs, one line per field; the structured content has all. Each line of the text begins with a bar, so
 * that a text cannot write a field of its own beneath itself.
 */
function linesOf(content: UntrustedContent): string[] {
  const { author, url, published_at: publishedAt, title, why, text } = content;
  const named: ReadonlyArray<readonly [string, string | null | undefined]> = [
    ['handle', author?.handle],
    ['name', author?.name],
    ['url', url],
    ['published_at', publishedAt],
    ['title', title],
    ['why', why?.join('; ')],
  ];
  const fields = named.flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []));
  return text === null ? fields : [...fields, ...text.split('\n').map((line) => `| ${line}`)];
}
