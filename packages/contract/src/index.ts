export {
  type RelevanceFilter,
  relevanceFilters,
  type Violation,
  type WireDiagnostic,
} from './answer-fields.ts';
export { formatKey, isWellFormedKey } from './api-key.ts';
export type { Archive, ArchiveFormat } from './archives.ts';
export type { AuditEntry } from './audit.ts';
export {
  type Budget,
  budgetGrammar,
  formatBudget,
  isLooserBudget,
  parseBudget,
  parseTrial,
  type Trial,
  trialGrammar,
} from './budgets.ts';
export { type Digest, mailAddress } from './digests.ts';
export { exampleErrors } from './error-examples.ts';
export {
  type ErrorCode,
  type ErrorDetails,
  type ErrorEnvelope,
  type ErrorReason,
  errorCodes,
  errorSchema,
} from './errors.ts';
export type { Estimate } from './estimates.ts';
export {
  type ExportedMatch,
  type ExportFormat,
  exportTypes,
  parquetMatchesMax,
} from './exports.ts';
export type { JsonSchema } from './json-schemas.ts';
export type { Key } from './keys.ts';
export type { SyntaxGuide } from './language.ts';
export {
  type Coverage,
  type HiddenMatches,
  type Match,
  type MatchPayload,
  type Removal,
  type Why,
} from './matches.ts';
export type { Notice, NoticeType } from './notices.ts';
export { openApiDocument } from './openapi.ts';
export type { OpenApiDocument } from './openapi-types.ts';
export type { Operation } from './operation.ts';
export {
  type AnswerOf,
  type OperationId,
  operations,
  type RequestInput,
  type RequestOf,
} from './operations.ts';
export {
  differingOptions,
  onEachPlatform,
  type Platform,
  type PlatformDescription,
  platformDescriptions,
  platforms,
} from './platforms.ts';
export type { Preview } from './preview.ts';
export type { Reader } from './readers.ts';
export { type Label, type LabelName, type Mute, type MuteField, muteFields } from './relevance.ts';
export { integer, requestObject } from './request-fields.ts';
export type { RuleExamples } from './rule-examples.ts';
export {
  type AlertSensitivity,
  type Listening,
  listedPlatforms,
  type PlatformOptions,
  type Rule,
  type RuleRelevance,
} from './rule-fields.ts';
export { type Scope, scopes } from './scopes.ts';
export { type SourceState, sourceStates } from './sources.ts';
export { type Story, type StoryReason, storyCountMax, storyMembersMax } from './stories.ts';
export { parseTime, type TimeDirection, timeGrammar } from './times.ts';
export { violationsOf } from './violations.ts';
export type { Delivery } from './webhook-deliveries.ts';
export {
  type ChatFormat,
  chatWindowSecondsDefault,
  isChatFormat,
  notForChats,
  type Webhook,
  type WebhookFormat,
  webhookMatchesMax,
  windowProblem,
  windowSecondsDefault,
} from './webhooks.ts';
