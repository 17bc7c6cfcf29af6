import { certain, error, replacement } from '../../diagnostics.ts';
import type { TextRule } from './rule.ts';

const unsendable =
  // oxlint-disable-next-line no-control-regex -- the rule looks for them
  /[\u0000-\u0008\u000E-\u001F\u007F-\u009F\u200B\u2060\u202A-\u202E\u2066-\u2069\p{Cs}\uFFFE\uFFFF]+/gu;

/** Control characters, halves of surrogate pairs, and invisible ones that come with copied text. */
export const badCharacter: TextRule = (view) => {
  if (isPrintableAscii(view.text)) return;
  for (const { 0: found, index } of view.text.matchAll(unsendable)) {
    const span = [index, index + found.length] as const;
    const message = `An invisible character (U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}) stands here. Remove it.`;
    view.report(error('bad_character', message, span, [certain(replacement('Remove it', span, ''))]));
  }
};

/** True for almost every rule; the loop is cheaper than the regular expression. */
function isPrintableAscii(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}
