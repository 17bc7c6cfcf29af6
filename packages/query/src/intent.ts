/** Something that an intent should say. Never an error. */
export interface IntentHint {
  readonly code: 'intent_too_short' | 'intent_without_exclusion';
  readonly message: string;
}

const wordsMin = 4;

/** Words of frequent languages that exclude something. One too many only loses a hint. */
const excluding = new RegExp(
  String.raw`(?<![\p{L}])(?:${[
    // English
    "not|no|never|nothing|[a-z]+n['’]t|without|except|excepting|exclud\\p{L}*|ignor\\p{L}*|only|unless|rather than|instead of|skip|irrelevant",
    // German, Dutch
    'nicht|nichts|kein\\p{L}*|ohne|außer|ausser|nur|niet|geen|zonder|behalve',
    // French, Spanish, Portuguese, Italian
    'pas|sans|sauf|hors|seulement|sin|excepto|salvo|solo|sólo|não|nao|sem|exceto|non|senza|tranne|exclu\\p{L}*|esclu\\p{L}*',
    // Danish, Norwegian, Swedish, Polish, Turkish
    'ikke|uden|uten|inte|utan|ej|nie|bez|oprócz|değil|hariç',
  ].join('|')})(?![\p{L}])`,
  'iu',
);

/**
 * What the intent of a rule lacks for a judge. An exclusion ("the company, not the fruit") is worth as much as 20 labels (docs/relevance.md).
 * Languages in other scripts than Latin get no hints.
 */
export function checkIntent(intent: string): IntentHint[] {
  if (/(?!\p{Script=Latin})\p{L}/u.test(intent)) return [];
  const words = intent.match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length < wordsMin) {
    const message =
      'The intent is very short. Say in a sentence what you want to know, and what to ignore: "Releases of the language Rust, not rust on metal".';
    return [{ code: 'intent_too_short', message }];
  }
  if (excluding.test(intent)) return [];
  const message =
    'The intent does not say what to ignore. If the same words have other meanings, name them: "…, not rust on metal".';
  return [{ code: 'intent_without_exclusion', message }];
}
