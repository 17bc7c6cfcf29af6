import { spend } from '../budget.ts';
import type { ExamplePayload } from '../example-payload.ts';
import { type DomainValues, domainValues } from './domain.ts';
import { type TextToken, type TokenizerVariant, tokenize } from './tokenize.ts';

/** One text of the page and its path in the payload. */
interface Passage {
  readonly path: string;
  readonly text: string;
}

export interface PlacedToken extends TextToken {
  readonly passage: Passage;
}

/** Tokens among which a phrase is searched; the index of a token is its position. */
export type Sequence = readonly PlacedToken[];

export interface TextField {
  /** False when the payload has only an excerpt, so that a miss is not conclusive. */
  readonly complete: boolean;
  sequences(variant: TokenizerVariant): readonly Sequence[];
  /** Whether some word has a mark inside (`we're`, `3.5`, `snake_case`): the two tokenizers differ only on those. */
  hasMarks(): boolean;
}

export function hasMark(word: string): boolean {
  return /[^\p{L}\p{N}\p{M}]/u.test(word);
}

export interface Value {
  readonly path: string;
  readonly value: string;
}

/** The values of a page for each field of the language; null where they are unknown. */
export interface FirehoseDocument {
  readonly texts: ReadonlyMap<string, TextField>;
  readonly values: ReadonlyMap<string, readonly Value[]>;
  readonly domain: DomainValues;
  readonly rating: number | null;
  readonly matchedAt: string | null;
  /** True for a whole page as the platform sees it, of which nothing is unknown. */
  readonly whole: boolean;
}

/** A delivered match (firehose.md §7): the update object with its `document`. */
export function deliveredDocument(payload: unknown): FirehoseDocument {
  const update = record(payload);
  const page = record(update['document']);
  const texts = new Map<string, TextField>([
    ['added', createTextField(chunks(page, 'ins'), { complete: false, joined: false })],
    ['removed', createTextField(chunks(page, 'del'), { complete: false, joined: false })],
    ['title', createTextField(strings(page['title'], 'document.title'), { complete: true, joined: false })],
  ]);
  return { ...metadata(page), texts, matchedAt: text(update['matched_at']), whole: false };
}

/**
 * A whole page record (packages/sandbox/README.md), as the platform itself matches it: full diff, anchors, every parent
 * domain. Values of one field follow each other without a gap, as in Lucene.
 */
export function wholePage(payload: unknown): FirehoseDocument {
  const page = record(payload);
  const anchors = record(page['anchors']);
  const texts = new Map<string, TextField>([
    ['added', wholeField(chunks({ diff: { chunks: page['chunks'] } }, 'ins'))],
    ['removed', wholeField(chunks({ diff: { chunks: page['chunks'] } }, 'del'))],
    ['added_anchor', wholeField(strings(anchors['added'], 'anchors.added'))],
    ['removed_anchor', wholeField(strings(anchors['removed'], 'anchors.removed'))],
    ['title', wholeField(strings(page['title'], 'title'))],
  ]);
  return { ...metadata(page), texts, matchedAt: text(page['matched_at']), whole: true };
}

/** A page described by an example, whose text is all of the added text. */
export function exampleDocument({
  text,
  title,
  url,
  language,
  published_at,
}: ExamplePayload): FirehoseDocument {
  const whole = { complete: true, joined: false };
  return {
    // The platform's publish times have no time zone.
    ...metadata({ url, language, publish_time: published_at?.replace(/(\.[0-9]+)?Z$/i, '') }),
    texts: new Map([
      ['added', createTextField(strings(text, 'text'), whole)],
      ['title', createTextField(strings(title, 'title'), whole)],
    ]),
    matchedAt: null,
    whole: false,
  };
}

function wholeField(passages: readonly Passage[]): TextField {
  return createTextField(passages, { complete: true, joined: true });
}

function metadata(
  page: Readonly<Record<string, unknown>>,
): Pick<FirehoseDocument, 'values' | 'domain' | 'rating'> {
  const url = text(page['url']) ?? '';
  const at = (name: string, alias = name): Value[] =>
    strings(page[name] ?? page[alias], `document.${name}`).map((found) => ({
      path: found.path,
      value: found.text,
    }));
  return {
    values: new Map([
      ['url', at('url')],
      ['publish_time', at('publish_time')],
      ['page_category', at('page_category', 'page_categories')],
      ['page_type', at('page_types', 'page_type')],
      ['language', at('language')],
    ]),
    domain: domainValues(url),
    rating: typeof page['domain_rating'] === 'number' ? page['domain_rating'] : null,
  };
}

function createTextField(
  passages: readonly Passage[],
  { complete, joined }: { readonly complete: boolean; readonly joined: boolean },
): TextField {
  const made = new Map<TokenizerVariant, readonly Sequence[]>();
  const make = (variant: TokenizerVariant): readonly Sequence[] => {
    const all = passages.map((passage) =>
      tokenize(passage.text, variant).map((token) => ({ ...token, passage })),
    );
    return joined ? [all.flat()] : all;
  };
  const sequences = (variant: TokenizerVariant): readonly Sequence[] => {
    const found = made.get(variant) ?? make(variant);
    made.set(variant, found);
    return found;
  };
  let marks: boolean | null = null;
  const findMarks = () =>
    sequences('standard').some((tokens) => {
      spend(stepsPerMarkTest * tokens.length);
      return tokens.some(({ term }) => hasMark(term));
    });
  return {
    complete,
    sequences,
    // Cached: every clause needs it, and a long page has many words.
    hasMarks: () => (marks ??= findMarks()),
  };
}

function chunks(page: Readonly<Record<string, unknown>>, type: 'ins' | 'del'): Passage[] {
  const list = record(page['diff'])['chunks'];
  if (!Array.isArray(list)) return [];
  spend(stepsPerEntry * list.length);
  return list.flatMap((item: unknown, index) => {
    const chunk = record(item);
    const passage = text(chunk['text']);
    return chunk['typ'] === type && passage !== null
      ? [{ path: `document.diff.chunks[${index}].text`, text: passage }]
      : [];
  });
}

/** A string or a list of strings; any other value is ignored. */
function strings(value: unknown, path: string): Passage[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (!Array.isArray(value)) return [];
  spend(stepsPerEntry * value.length);
  return value.flatMap((item: unknown, index) =>
    typeof item === 'string' ? [{ path: `${path}[${index}]`, text: item }] : [],
  );
}

const stepsPerEntry = 20;
const stepsPerMarkTest = 10;

function record(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
