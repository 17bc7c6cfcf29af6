import { type RelatedItem, type Relations, textAt } from '../relations.ts';

/** The time of the change: the page itself may be years old. */
export function relationsOfPage({ payload }: RelatedItem): Relations {
  return {
    at: textAt(payload.raw, 'matched_at'),
    post: null,
    page: payload.url,
    references: [],
    links: [],
  };
}
