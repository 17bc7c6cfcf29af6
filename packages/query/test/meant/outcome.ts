import { corrected, languages, type Platform } from '../../src/index.ts';

/**
 * The outcome of a query as a user wrote it. `right`: registered with the intended meaning. `corrected`: so after its
 * certain fixes. `warned`: registered as written, with a warning that quotes it. `refused`. `wrong` must never occur.
 */
export type Outcome = 'right' | 'corrected' | 'warned' | 'refused' | 'wrong';

/** `meant` is a query with the intended meaning; null if the platform's language cannot express it. */
export function outcomeOf(platform: Platform, wrote: string, meant: string | null): Outcome {
  const language = languages[platform];
  const asMeant = meant === null ? null : language.validate(meant).canonical;
  const { valid, canonical, diagnostics } = language.validate(wrote);
  if (valid && canonical === asMeant) return 'right';
  if (valid) return diagnostics.some(({ code }) => quotingWarnings.has(code)) ? 'warned' : 'wrong';
  const value = corrected(language, wrote);
  if (value === null) return 'refused';
  return language.validate(value).canonical === asMeant ? 'corrected' : 'wrong';
}

/** The warnings that quote the query that will be registered. */
const quotingWarnings: ReadonlySet<string> = new Set(['implicit_operator']);
