import type { Rule } from '@earshot/contract';
import type { RuleStore } from './rule-store.ts';

/** Small pages, short-lived garbage: over 100,000 rules the server grew by up to 69 MiB with 100 a page, with 50 by 35. */
const pageSize = 50;

/** All rules of the account, newest first, page by page: memory does not grow with their number. */
export async function* everyRule(store: Pick<RuleStore, 'page'>, accountId: string): AsyncGenerator<Rule[]> {
  let before: string | null = null;
  for (;;) {
    const rules: Rule[] = await store.page(accountId, { before, limit: pageSize });
    if (rules.length > 0) yield rules;
    if (rules.length < pageSize) return;
    before = rules.at(-1)?.id ?? null;
  }
}
