/** What X recognises as tags, mentions and links; the first group is the name without its sigil. */
export const entityPatterns = {
  hashtag: /(?<![\p{L}\p{M}\p{N}_&])#([\p{L}\p{M}\p{N}_]*[\p{L}\p{M}][\p{L}\p{M}\p{N}_]*)/gu,
  cashtag: /(?<![\p{L}\p{M}\p{N}_$])\$([A-Za-z]{1,6}(?:[._][A-Za-z]{1,2})?)(?![\p{L}\p{N}_])/gu,
  mention: /(?<![\p{L}\p{M}\p{N}_@.])@([A-Za-z0-9_]{1,15})(?![A-Za-z0-9_])/gu,
  link: /https?:\/\/[^\s]*[^\s.,;:!?)'"]/gu,
} as const;
