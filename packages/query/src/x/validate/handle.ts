import type { LeafNode } from '../../ast.ts';
import { certain, error, type Fix, replacement } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { isListed } from './list.ts';
import { clauseSpan, type LeafRule, type View } from './rule.ts';

/** One account: a handle without @ (15 characters, older ones up to 20) or a numeric id. */
export const handle: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || leaf.test.value === '' || isListed(leaf, view)) return;
  const { value } = leaf.test;
  if (/^[a-z0-9_]{1,20}$/.test(value)) return;
  const written = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  const name = leaf.field === 'mention' ? '@' : `${leaf.field}:`;
  const list = accountList(leaf, view, name);
  const plain = plainHandle(written);
  const message =
    list === null
      ? `${name} takes one account name of letters, digits and _, without @; ${quoted(written, 40)} is not one.`
      : `${name} takes one account. Join several with OR.`;
  const fixes =
    list ?? (plain === null ? [] : [certain(replacement(`Write ${name}${plain}`, leaf.valueSpan, plain))]);
  view.report(error(list === null ? 'bad_handle' : 'one_value', message, leaf.valueSpan, fixes));
};

function accountList(leaf: LeafNode, view: View, name: string): Fix[] | null {
  const written = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  const [start, end] = clauseSpan(leaf, view.text);
  if (!written.includes(',') || end !== leaf.valueSpan[1]) return null;
  const accounts = written
    .split(',')
    .map((part) => part.replace(/^@/, ''))
    .filter((part) => part !== '');
  if (accounts.length < 2 || !accounts.every((account) => /^\w{1,20}$/.test(account))) return null;
  const list = accounts.map((account) => name + account).join(' OR ');
  const isGrouped = leaf.span[0] < start && leaf.span[1] > end;
  return [certain(replacement('Join them with OR', [start, end], isGrouped ? list : `(${list})`))];
}

/** What was meant by `@acme_sky`, `https://x.com/acme_sky` or `acme_sky.` */
function plainHandle(written: string): string | null {
  const path = written.replace(/^https?:\/\/(www\.)?(x|twitter)\.com\//i, '').replace(/^@+/, '');
  const found = /^(\w{1,20})[^\w]*$/.exec(path.split('/')[0] ?? '');
  return found?.[1] ?? null;
}
