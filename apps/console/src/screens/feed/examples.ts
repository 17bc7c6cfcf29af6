import type { Rule } from '@earshot/sdk';
import type { FeedItem } from './feed-state.ts';

type Examples = NonNullable<Rule['examples']>;
export type Expectation = keyof Examples;
type Example = Examples[Expectation][number];

/** The fields of the match that a query can ask for. An example without `raw` stays readable. */
export function exampleOf({ platform, payload }: FeedItem['match']): Example {
  const { url, title, text, author, language } = payload;
  return { platform, payload: known({ url, title, text, author: author && known(author), language }) };
}

export function examplesWith(
  examples: Rule['examples'],
  expectation: Expectation,
  example: Example,
): Examples {
  const { must_match, must_not_match } = examples ?? { must_match: [], must_not_match: [] };
  const before = { must_match, must_not_match };
  return { ...before, [expectation]: [...before[expectation], example] };
}

/** Whether the item is such an example already. The URL identifies it. */
export function hasExample(
  examples: Rule['examples'],
  expectation: Expectation,
  { payload }: Example,
): boolean {
  return (
    examples?.[expectation].some((one) => one.payload.url != null && one.payload.url === payload.url) === true
  );
}

function known<Fields extends object>(fields: Fields): Fields {
  const entries = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(entries) as Fields;
}
