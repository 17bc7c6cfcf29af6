/**
 * Estimates the tokens of a text from its bytes, because the tokenizer of the client's model is unknown. 3 bytes of
 * lower-case ASCII, or 1.5 bytes of another script, count as a token. A capital, digit or punctuation mark counts as 0.8.
 * Measured with o200k, prose in common languages, ids and markup need fewer tokens than estimated. Made-up words need up to
 * twice as many, and no text more than three times as many, because no token is shorter than a byte.
 */
export function estimateTokens(text: string): number {
  const ascii = text.replaceAll(/[^\0-\x7f]+/g, '');
  const lowerCase = ascii.length - ascii.replaceAll(/[a-z ]+/g, '').length;
  const otherScripts = Buffer.byteLength(text) - ascii.length;
  return Math.ceil(lowerCase / 3 + otherScripts / 1.5 + (ascii.length - lowerCase) * 0.8);
}
