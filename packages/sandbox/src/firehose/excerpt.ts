import { languages, leavesOf } from '@earshot/query';
import type { Chunk, FirehosePage } from './page.ts';
import type { FirehoseRule } from './tap.ts';

/**
 * The diff as the service delivers it: only the surroundings of the hits (firehose.md §7.2). How it is cut is not
 * documented; here each chunk keeps the text from its first to its last hit and `radius` characters on both sides.
 */
export function cutExcerpt(page: FirehosePage, rules: readonly FirehoseRule[], radius: number): Chunk[] {
  const hits = rules.flatMap((rule) => hitsOf(page, rule));
  return page.chunks.flatMap(({ typ, text }, index) => {
    const ends = hits.flatMap(({ path, range }) =>
      path === `document.diff.chunks[${index}].text` && range !== null ? range : [],
    );
    if (ends.length === 0) return [];
    const kept = text.slice(Math.max(0, Math.min(...ends) - radius), Math.max(...ends) + radius);
    return [{ typ, text: withoutHalfCharacters(kept) }];
  });
}

/** Explains each clause: the rule as a whole may be undecided on the part of the page that an event shows. */
function hitsOf(page: FirehosePage, { value }: FirehoseRule) {
  const { root } = languages.firehose.parse(value);
  const leaves = root === null ? [] : leavesOf(root);
  return leaves.flatMap((leaf) => languages.firehose.explain(leaf, { document: page.wire }).witness);
}

/** Drops the halves of surrogate pairs that the cut left at either end. */
function withoutHalfCharacters(text: string): string {
  return text.replaceAll(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');
}
