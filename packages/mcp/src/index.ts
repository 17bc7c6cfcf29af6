export type { MatchesAnswer, MatchPage } from './content/answer-matches.ts';
export { type AnswerPageOptions, answerPage } from './content/answer-page.ts';
export { newNonce } from './content/nonce.ts';
export { visible } from './content/visible.ts';
