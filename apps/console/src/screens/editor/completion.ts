import type { SyntaxGuide } from '@earshot/query';

export interface Suggestion {
  /** The text to insert, up to the operator's value. */
  readonly insert: string;
  readonly form: string;
  readonly meaning: string;
  /** The plan tier that the operator needs; empty for the standard tier. */
  readonly tier: string;
}

export interface Suggestions {
  readonly from: number;
  readonly options: readonly Suggestion[];
}

/** Suggests the operators that start with the word before the cursor. Returns null inside quotes. */
export function suggest(guide: SyntaxGuide, text: string, at: number): Suggestions | null {
  const before = text.slice(0, at);
  if ((before.match(/"/g)?.length ?? 0) % 2 === 1) return null;
  const word = /[\w:]*$/.exec(before)?.[0] ?? '';
  const options = guide.operators
    .map(({ form, meaning, tier }) => ({
      insert: insertionOf(form),
      form,
      meaning,
      tier: tier === 'standard' ? '' : tier,
    }))
    .filter(({ insert }) => insert !== '' && insert.toLowerCase().startsWith(word.toLowerCase()));
  return options.length === 0 ? null : { from: at - word.length, options };
}

/** `from:` for `from:user`, the whole form for `is:reply`, and an empty string for a form without an operator. */
function insertionOf(form: string): string {
  const [, field, value] = /^-?([a-z_]+:)(\S*)$/.exec(form) ?? [];
  if (field === undefined) return '';
  const isFixed = ['is:', 'has:'].includes(field);
  return isFixed ? `${field}${value}` : field;
}
