export { type MatchesAnswer, type MatchPage, maxTokensMin } from './content/answer-matches.ts';
export { type AnswerPageOptions, answerPage } from './content/answer-page.ts';
export { createEstimateTokens, type EstimateTokens } from './content/estimate-tokens.ts';
export { newNonce } from './content/nonce.ts';
export { visible } from './content/visible.ts';
