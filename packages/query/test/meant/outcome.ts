import { corrected, languages, type Platform } from '../../src/index.ts';

/**
 * The outcome of a query as a user wrote it. `right`: registered with the intended meaning. `corrected`: so after its
 * certain fixes. `wrong` must never occur.
 */
export type Outcome = 'right' | 'corrected' | 'refused' | 'wrong';

/** `meant` is a query with the intended meaning; null if the platform's language cannot express it. */
export function outcomeOf(platform: Platform, wrote: string, meant: string | null): Outcome {
  const language = languages[platform];
  const asMeant = meant === null ? null : language.validate(meant).canonical;
  const { valid, canonical } = language.validate(wrote);
  if (valid) return canonical === asMeant ? 'right' : 'wrong';
  const value = corrected(language, wrote);
  if (value === null) return 'refused';
  return language.validate(value).canonical === asMeant ? 'corrected' : 'wrong';
}
