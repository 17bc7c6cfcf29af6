export type { CallOptions } from './call.ts';
export type { ConsumeOptions } from './consume-matches.ts';
export type {
  Answers,
  ErrorCode,
  ErrorDetails,
  Match,
  Notice,
  Removal,
  Requests,
  Rule,
} from './contract-types.ts';
export { createEarshot, type Earshot, type EarshotOptions } from './earshot.ts';
export { EarshotError } from './errors.ts';
export type { ExportedFile, ExportOptions } from './export-matches.ts';
export type { FollowedMatches, FollowedNotices, FollowOptions, StreamOptions } from './follow-matches.ts';
export { type FenceOptions, fence, words } from './for-models.ts';
export {
  type DigestMessage,
  verifyWebhook,
  type WebhookMessage,
  type WebhookToVerify,
  WebhookVerificationError,
} from './verify-webhook.ts';
