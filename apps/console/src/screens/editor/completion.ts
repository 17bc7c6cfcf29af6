import type { SyntaxGuide } from '@earshot/query';

export interface Suggestion {
  /** What is put in, up to where the value begins. */
  readonly insert: string;
  readonly form: string;
  readonly meaning: string;
  /** Empty for everybody's. */
  readonly tier: string;
}

export interface Suggestions {
  readonly from: number;
  readonly options: readonly Suggestion[];
}

/** The operators of the syntax tables that begin like the word before the cursor; within quotes there are none. */
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

/** `from:` of `from:user`, all of `is:reply`; nothing of a form that is only words. */
function insertionOf(form: string): string {
  const [, field, value] = /^-?([a-z_]+:)(\S*)$/.exec(form) ?? [];
  if (field === undefined) return '';
  const isFixed = ['is:', 'has:'].includes(field);
  return isFixed ? `${field}${value}` : field;
}
