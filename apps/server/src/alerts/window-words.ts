import type { MatchPayload } from '@earshot/contract';
import { domainOf } from '../relevance/which-mute.ts';

/** A stored item of the window that an alert is about. */
export interface SampledItem {
  readonly position: number;
  readonly payload: MatchPayload;
}

const shownMax = 5;
const textMax = 2_000;
const wordLengthMax = 40;
/** So that no item, or repetition within it, names anything alone: notices outlive the removal of an item. */
const itemsMin = 3;

const stopWords = new Set(
  `the and for are was were with that this from have has had not but you your they their our its his her she him who what when where why
   how all any can could will would should just more most than then there here into out about over after before also been being does did
   doing one two new now get got via amp http https www com html org net die der das und ist den von mit für ein eine les des est pour que
   dans una los las por con para del`.split(/\s+/),
);

const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** The words that most items of the sample have. Every item has the words of the rule, so they are left out. */
export function topWords(items: readonly SampledItem[], query: string): string[] {
  const own = wordsOf(query);
  return mostCommon(
    items.map(({ payload: { title, text } }) =>
      wordsOf([title, text].filter(Boolean).join('\n').slice(0, textMax)),
    ),
    (word) => !own.has(word) && !stopWords.has(word),
  );
}

export function topDomains(items: readonly SampledItem[]): string[] {
  return mostCommon(
    items.map(({ payload }) => new Set([domainOf(payload.url)].filter((domain) => domain !== null))),
    () => true,
  );
}

function wordsOf(text: string): Set<string> {
  const withoutLinks = text.replaceAll(/https?:\/\/\S+/g, ' ').toLowerCase();
  return new Set(
    [...segmenter.segment(withoutLinks)].flatMap(({ segment, isWordLike }) =>
      isWordLike && isWord(segment) ? [segment] : [],
    ),
  );
}

/** Words of scripts without spaces are short. */
function isWord(segment: string): boolean {
  const lengthMin = /^[\p{ASCII}]*$/u.test(segment) ? 3 : 2;
  return segment.length >= lengthMin && segment.length <= wordLengthMax && /\p{L}/u.test(segment);
}

function mostCommon(sets: readonly ReadonlySet<string>[], isShown: (word: string) => boolean): string[] {
  const counts = new Map<string, number>();
  for (const words of sets) for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts]
    .filter(([word, count]) => count >= itemsMin && isShown(word))
    .toSorted(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .slice(0, shownMax)
    .map(([word]) => word);
}
