/**
 * How many tokens a text takes, estimated from its bytes: which tokenizer the client's model has is unknown. Three bytes of
 * lower-case English, or one and a half of another script, count as a token; a capital, a digit or a punctuation mark counts
 * as 0.8. Measured with o200k, prose in common languages, ids and markup take less than that. Made-up words take up to twice
 * as much, and no text more than three times, because no token is shorter than a byte.
 */
export function estimateTokens(text: string): number {
  const ascii = text.replaceAll(/[^\0-\x7f]+/g, '');
  const lowerCase = ascii.length - ascii.replaceAll(/[a-z ]+/g, '').length;
  const otherScripts = Buffer.byteLength(text) - ascii.length;
  return Math.ceil(lowerCase / 3 + otherScripts / 1.5 + (ascii.length - lowerCase) * 0.8);
}
