import type { LeafNode } from '../../ast.ts';
import { certain, error, type Fix, replacement, warning } from '../../diagnostics.ts';
import { quoted } from '../../text.ts';
import { currentLanguages, languageCode, languageInstead, olderLanguages } from '../languages.ts';
import { isListed } from './list.ts';
import { clauseSpan, type LeafRule, type View } from './rule.ts';

/** Ids of posts are decimal numbers. */
export const postId: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || leaf.test.value === '' || /^\d{1,20}$/.test(leaf.test.value)) return;
  const inLink = /status(?:es)?\/(\d{1,20})/.exec(leaf.test.value)?.[1];
  const message = `${leaf.field}: takes the number of a post, as in x.com/name/status/1961112223334445556.`;
  const fixes = inLink === undefined ? [] : [certain(replacement('Use the number', leaf.valueSpan, inLink))];
  view.report(error('bad_id', message, leaf.valueSpan, fixes));
};

/** domain.entity, with `*` for one of the two. */
export const contextValue: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'opaque' || leaf.test.value === '') return;
  const domain = /^\d{1,20}$/.exec(leaf.test.value)?.[0];
  const message =
    'context: takes the numbers domain.entity, for example 47.10045225402, 47.* or *.10045225402.';
  const fixes = domain === undefined ? [] : [replacement(`Write ${domain}.*`, leaf.valueSpan, `${domain}.*`)];
  view.report(error('bad_context', message, leaf.valueSpan, fixes));
};

const hashtag = /^[\p{L}\p{M}\p{N}_\u200C\u200D]*[\p{L}\p{M}][\p{L}\p{M}\p{N}_\u200C\u200D]*$/u;
const cashtag = /^[a-z]{1,6}([._][a-z]{1,2})?$/i;

/** Names of hashtags and cashtags as X itself recognises them in posts. */
export const tagName: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || isListed(leaf, view)) return;
  const written = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  if ((leaf.field === 'hashtag' ? hashtag : cashtag).test(leaf.test.value)) return;
  const sigil = leaf.field === 'hashtag' ? '#' : '$';
  // X shows #1989 as no hashtag, but an older page of its documentation has it as a rule.
  const serverDecides = (leaf.field === 'cashtag' ? /^[\w.]+$/ : /^\d+$/).test(written);
  const message =
    leaf.field === 'hashtag'
      ? `${quoted(`#${written}`, 40)} is no hashtag: at least one letter, then letters, digits and _ only.`
      : `${quoted(`$${written}`, 40)} does not look like a cashtag: one to six letters. Quote it to search the text.`;
  view.report((serverDecides ? warning : error)('bad_tag', message, leaf.span, fixes(leaf, written, sigil)));
};

function fixes(leaf: LeafNode, written: string, sigil: '#' | '$'): Fix[] {
  const start = leaf.valueSpan[0] - 1;
  const span = [start, leaf.valueSpan[1]] as const;
  const pattern = sigil === '#' ? hashtag : cashtag;
  const trimmed = written.replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{M}\p{N}_]+$/gu, '');
  if (pattern.test(trimmed)) return [certain(replacement(`Write ${sigil}${trimmed}`, span, sigil + trimmed))];
  if (written.endsWith('\\')) return [];
  return [replacement('Search it as text', span, `"${sigil === '$' ? '$' : ''}${written}"`)];
}

/** Chinese has two codes, and `br` may be Breton. */
const ambiguous: ReadonlySet<string> = new Set(['zh', 'cn', 'chinese', 'br']);

/** X may ignore an unknown code, so that the rule would match more than intended (x.md §10.3): refused. */
export const knownLanguage: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || leaf.test.value === '') return;
  const { value } = leaf.test;
  if (currentLanguages.has(value)) return;
  if (olderLanguages.has(value)) {
    const message = `X's list of today no longer names ${quoted(value)}; it may be ignored, and the rule would match every language.`;
    view.report(warning('older_language', message, leaf.valueSpan));
    return;
  }
  const several = value.split(/[,|]/);
  if (several.length > 1 && several.every((one) => currentLanguages.has(one))) {
    const text = `(${several.map((one) => `lang:${one}`).join(' OR ')})`;
    const fix = certain(replacement(`Write ${text}`, clauseSpan(leaf, view.text), text));
    return view.report(
      error('one_value', 'lang: takes one language. Join several with OR.', leaf.valueSpan, [fix]),
    );
  }
  const lower = value.toLowerCase();
  const instead = languageInstead.get(lower) ?? languageCode(lower.split(/[-_]/)[0] ?? '');
  const message = `X does not classify ${quoted(value, 20)}. Use a code such as en, de, ja or zh-CN${instead === undefined ? '' : `; here probably ${instead}`}.`;
  const fix = instead === undefined ? [] : [replacement(`Write lang:${instead}`, leaf.valueSpan, instead)];
  const fixes = ambiguous.has(lower) ? fix : fix.map(certain);
  view.report(error('unknown_language', message, leaf.valueSpan, fixes));
};

const instead: ReadonlyMap<string, string> = new Map([
  ['uk', 'gb'],
  ['usa', 'us'],
  ['england', 'gb'],
  ['germany', 'de'],
  ['france', 'fr'],
  ['japan', 'jp'],
  ['brazil', 'br'],
  ['canada', 'ca'],
  ['india', 'in'],
  ['norway', 'no'],
]);

/** ISO 3166-1 alpha-2, and Kosovo's user-assigned code, which X uses. */
const codes: ReadonlySet<string> = new Set(
  (
    'ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bl bm bn bo bq br bs ' +
    'bt bv bw by bz ca cc cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee ' +
    'eg eh er es et fi fj fk fm fo fr ga gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm ' +
    'hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc ' +
    'li lk lr ls lt lu lv ly ma mc md me mf mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na ' +
    'nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ps pt pw py qa re ro rs ru rw ' +
    'sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st sv sx sy sz tc td tf tg th tj tk tl tm tn to ' +
    'tr tt tv tw tz ua ug um us uy uz va vc ve vg vi vn vu wf ws xk ye yt za zm zw'
  ).split(' '),
);

/** The list is closed: another code never matches. */
export const countryCode: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || leaf.test.value === '') return;
  const { value } = leaf.test;
  const code = instead.get(value);
  if (code === undefined && codes.has(value)) return;
  const message = `place_country: takes a two-letter ISO code, for example us or de${code === undefined ? '' : `; here ${code}`}.`;
  const fixes = code === undefined ? [] : [certain(replacement(`Write ${code}`, leaf.valueSpan, code))];
  view.report(error('bad_country', message, leaf.valueSpan, fixes));
};

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
