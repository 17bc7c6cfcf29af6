import { corrected, languages, type Platform } from '../../src/index.ts';

/**
 * What comes of a rule as somebody wrote it: registered at once with the meaning that was meant, registered so after its
 * certain fixes, registered as written with a warning that says so, or refused. `wrong` must never come out.
 */
export type Outcome = 'right' | 'corrected' | 'told' | 'refused' | 'wrong';

/** `meant` is a rule that says what was meant; null when the platform's language cannot say it. */
export function outcomeOf(platform: Platform, wrote: string, meant: string | null): Outcome {
  const language = languages[platform];
  const asMeant = meant === null ? null : language.validate(meant).canonical;
  const { valid, canonical, diagnostics } = language.validate(wrote);
  if (valid && canonical === asMeant) return 'right';
  if (valid) return diagnostics.some(({ code }) => told.has(code)) ? 'told' : 'wrong';
  const value = corrected(language, wrote);
  if (value === null) return 'refused';
  return language.validate(value).canonical === asMeant ? 'corrected' : 'wrong';
}

/** The warnings that quote what will be registered. */
const told: ReadonlySet<string> = new Set(['implicit_operator']);
