import type { z } from 'zod';
import { archiveOperations } from './archives.ts';
import { auditOperations } from './audit.ts';
import { coverageOperations } from './coverage.ts';
import { digestOperations } from './digests.ts';
import { exportOperations } from './exports.ts';
import { feedOperations } from './feeds.ts';
import { keyOperations } from './keys.ts';
import { languageOperations } from './language.ts';
import { matchOperations } from './matches.ts';
import { noticeOperations } from './notices.ts';
import type { Operation } from './operation.ts';
import { previewOperations } from './preview.ts';
import { readerOperations } from './readers.ts';
import { relevanceOperations } from './relevance.ts';
import { ruleOperations } from './rules.ts';
import { sourceOperations } from './sources.ts';
import { usageOperations } from './usage.ts';
import { deliveryOperations } from './webhook-deliveries.ts';
import { webhookOperations } from './webhooks.ts';

/**
 * The operations of the interface: routes, OpenAPI document and reference page all come from this table. An operation is
 * added in the file of its noun, with its request, answer and example.
 */
export const operations = {
  ...ruleOperations,
  ...previewOperations,
  ...matchOperations,
  ...exportOperations,
  ...relevanceOperations,
  ...coverageOperations,
  ...usageOperations,
  ...sourceOperations,
  ...readerOperations,
  ...noticeOperations,
  ...languageOperations,
  ...keyOperations,
  ...auditOperations,
  ...webhookOperations,
  ...deliveryOperations,
  ...digestOperations,
  ...feedOperations,
  ...archiveOperations,
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;

/** A request as a handler sees it: parsed, with its defaults. */
export type RequestOf<Id extends OperationId> = z.output<(typeof operations)[Id]['request']>;

/** A request as a caller writes it: what has a default may be left out. */
export type RequestInput<Id extends OperationId> = z.input<(typeof operations)[Id]['request']>;

export type AnswerOf<Id extends OperationId> = z.output<(typeof operations)[Id]['answer']>;
