import type { LeafNode } from '../ast.ts';
import {
  certain,
  type Diagnostic,
  error,
  type Fix,
  inTextOrder,
  replacement,
  warning,
} from '../diagnostics.ts';
import { leavesOf } from '../explain.ts';
import { quoted } from '../text.ts';
import { languageInstead } from '../x/languages.ts';
import type { Rule } from '../x/parser.ts';
import { isListed } from '../x/validate/list.ts';
import { clauseSpan, type LeafRule, type View } from '../x/validate/rule.ts';
import { commonValueRules, diagnose as diagnoseDialect, type ValueRules } from '../x/validate.ts';
import { isDid, isHandle } from './account.ts';
import { foldLanguage, isLanguageTag } from './languages.ts';
import { blueskyDialect, clausesMax } from './tables.ts';

/** Posts name accounts by DID. Only a mention also shows a handle, in the text. */
const account: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || leaf.test.value === '' || isListed(leaf, view)) return;
  const { value } = leaf.test;
  if (isDid(value)) return checkLength(leaf, value, view);
  const isMention = leaf.field === 'mention';
  if (isMention && isHandle(value)) return;
  const name = isMention ? '@' : `${leaf.field}:`;
  const bare = value.replace(/^@+/, '').replace(/[^a-z0-9]+$/, '');
  const report = (message: string, fixes: readonly Fix[] = []): void => {
    view.report(error('bad_handle', message, leaf.valueSpan, fixes));
  };
  if (isDid(bare) || (isMention && isHandle(bare))) {
    const fix = certain(replacement(`Write ${name}${bare}`, leaf.valueSpan, bare));
    return report(`${name} takes the account without other signs.`, [fix]);
  }
  if (isMention) {
    const whole = `${bare}.bsky.social`;
    const fixes = isHandle(whole) ? [replacement(`Write @${whole}`, leaf.valueSpan, whole)] : [];
    return report(
      `@ takes a whole handle such as @alice.bsky.social, or a DID; ${quoted(value, 40)} is neither.`,
      fixes,
    );
  }
  report(
    `${name} takes a DID such as did:plc:ewvi7nxzyoun6zhxrhs64oiz, because posts name accounts by DID. Look up the DID of ${quoted(bare, 40)} with the XRPC method com.atproto.identity.resolveHandle.`,
  );
};

const plcLength = 24;

function checkLength({ valueSpan }: LeafNode, did: string, view: View): void {
  const rest = /^did:plc:(.*)$/.exec(did)?.[1];
  if (rest === undefined || rest.length === plcLength) return;
  const message = `did:plc: has ${plcLength} characters behind it, and this has ${rest.length}. A shortened DID matches no post.`;
  view.report(warning('unusual_did', message, valueSpan));
}

const language: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || leaf.test.value === '') return;
  const { value } = leaf.test;
  if (isLanguageTag(value)) return;
  const several = value.split(/[,|]/);
  if (several.length > 1 && several.every((one) => isLanguageTag(foldLanguage(one)))) {
    const text = `(${several.map((one) => `lang:${one}`).join(' OR ')})`;
    const fix = certain(replacement(`Write ${text}`, clauseSpan(leaf, view.text), text));
    return view.report(
      error('one_value', 'lang: takes one language. Join several with OR.', leaf.valueSpan, [fix]),
    );
  }
  const instead = insteadOf(value);
  const message = `${quoted(value, 20)} is no language code. Use a code such as en, de, ja or pt-BR${instead === undefined ? '' : `; here probably ${instead}`}.`;
  const fixes =
    instead === undefined ? [] : [certain(replacement(`Write lang:${instead}`, leaf.valueSpan, instead))];
  view.report(error('unknown_language', message, leaf.valueSpan, fixes));
};

function insteadOf(value: string): string | undefined {
  const known = languageInstead.get(value) ?? value.split('_').join('-');
  const folded = foldLanguage(known);
  return isLanguageTag(folded) ? folded : undefined;
}

/** A tag on Bluesky may contain signs, but does not end with one. */
const tagName: LeafRule = (leaf, view) => {
  if (leaf.test.type !== 'term' || isListed(leaf, view)) return;
  if (isTag(leaf.test.value)) return;
  const written = view.text.slice(leaf.valueSpan[0], leaf.valueSpan[1]);
  const trimmed = written.replaceAll(/^[^\p{L}\p{N}]+|[^\P{P}_]+$/gu, '');
  const message = `${quoted(`#${written}`, 40)} is no hashtag: it needs a letter and ends with a letter, a digit or _.`;
  const fixes = isTag(trimmed) ? [certain(replacement(`Write #${trimmed}`, leaf.valueSpan, trimmed))] : [];
  view.report(error('bad_tag', message, leaf.span, fixes));
};

function isTag(value: string): boolean {
  return (
    value.length <= 64 &&
    /^[^#\\].*$/u.test(value) &&
    /[^\d\s\p{P}]/u.test(value) &&
    !/[^\P{P}_]$/u.test(value)
  );
}

const valueRules: ValueRules = {
  ...commonValueRules,
  tag: [tagName],
  handle: [account],
  lang: [language],
};

export function diagnose(rule: Rule): readonly Diagnostic[] {
  const found = diagnoseDialect(rule, { dialect: blueskyDialect, valueRules, tier: 'standard' });
  const leaves = rule.root === null ? [] : leavesOf(rule.root);
  return leaves.length > clausesMax ? inTextOrder([...found, tooManyClauses(leaves)]) : found;
}

function tooManyClauses(leaves: readonly LeafNode[]): Diagnostic {
  const message = `The rule has ${leaves.length} clauses; ${clausesMax} are allowed. Split it into several rules.`;
  const [first, last] = [leaves[clausesMax], leaves.at(-1)];
  return error('too_many_clauses', message, [first?.span[0] ?? 0, last?.span[1] ?? 0]);
}
