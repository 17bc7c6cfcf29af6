import { Readable } from 'node:stream';
import type { Rule } from '@earshot/contract';
import type { Cursors } from '../../readers/cursor.ts';
import { everyRule } from '../../rules/list-rules.ts';
import type { RuleStore } from '../../rules/rule-store.ts';
import type { Route } from '../route.ts';

/** With `limit` or `cursor` a page; without them the complete list, streamed. */
export function listRulesRoute(options: {
  store: Pick<RuleStore, 'page'>;
  cursors: Cursors;
}): Route<'ListRules'> {
  const { store, cursors } = options;
  const pageSizeDefault = 100;
  return {
    id: 'ListRules',
    async handle({ accountId }, { limit, cursor }) {
      if (limit === undefined && cursor === undefined) {
        return Readable.from(listAsJson(everyRule(store, accountId)), { objectMode: false });
      }
      const scope = { accountId, filter: ['rules'] };
      const size = limit ?? pageSizeDefault;
      const before = cursor === undefined ? null : cursors.open(scope, cursor);
      const rules = await store.page(accountId, { before, limit: size });
      const last = rules.at(-1);
      const more = rules.length === size && last !== undefined;
      return { rules, next_cursor: more ? cursors.seal(scope, last.id) : null };
    },
  };
}

async function* listAsJson(pages: AsyncIterable<Rule[]>): AsyncGenerator<string> {
  let separator = '{"rules":[';
  for await (const rules of pages) {
    yield separator + rules.map((rule) => JSON.stringify(rule)).join(',');
    separator = ',';
  }
  yield `${separator === ',' ? '' : separator}],"next_cursor":null}`;
}
