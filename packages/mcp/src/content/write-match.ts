import type { Match } from '@earshot/sdk';
import { fenced } from './fence.ts';
import { type ExcerptSize, excerptOf, type UntrustedContent } from './untrusted.ts';
import { visible } from './visible.ts';

/** A match with all its fields. Only Earshot's own fields are outside of the fence, such as ids, times and undecided clauses. */
export function writeMatch(match: Match, size: ExcerptSize, nonce: string): string[] {
  const { id, rule_id: ruleId, rule_version: version, platform, via, created_at: matchedAt } = match;
  const { content, cut } = excerptOf(match, size);
  const notes = `${noteOf('cut', cut)}${noteOf('undecided', size.bare ? [] : undecidedOf(match))}`;
  return [
    `${id} ${matchedAt} ${platform}${via === 'search' ? '/search' : ''} ${ruleId} v${version}${notes}`,
    ...fenced(linesOf(content), nonce),
  ];
}

const undecidedMax = 3;

/** The clauses that could not be decided from the item: their fields, with Earshot's reasons. */
function undecidedOf({ why }: Match): string[] {
  const clauses = why.undecided.map(({ field, why: reason }) => visible(`${field}: ${reason}`));
  return [...new Set(clauses)].slice(0, undecidedMax);
}

function noteOf(name: string, parts: readonly string[]): string {
  return parts.length === 0 ? '' : ` (${name}: ${parts.join(', ')})`;
}

/**
 * One line per field. Each line of the text begins with a bar, so that a text cannot imitate a field.
 */
function linesOf(content: UntrustedContent): string[] {
  const { author, url, published_at: publishedAt, title, post_id: postId, language, why, text } = content;
  const named: ReadonlyArray<readonly [string, string | null | undefined]> = [
    ['handle', author?.handle],
    ['name', author?.name],
    ['url', url],
    ['post_id', postId],
    ['published_at', publishedAt],
    ['language', language],
    ['title', title],
    ['why', why?.join('; ')],
  ];
  const fields = named.flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []));
  return text === null ? fields : [...fields, ...text.split('\n').map((line) => `| ${line}`)];
}
