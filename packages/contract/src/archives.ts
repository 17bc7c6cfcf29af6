import { z } from 'zod';
import { nextCursor, ruleId, timestamp } from './answer-fields.ts';
import { defineOperations } from './operation.ts';
import {
  longPageLimit,
  pageCursor,
  requestIssue,
  requestObject,
  rulesFilter,
  text,
} from './request-fields.ts';

const archiveId = z
  .string()
  .regex(/^arc_[0-9A-Za-z]+$/)
  .meta({ description: 'Id of the archive.' });

/** Text in the characters of a name in a bucket or of its parts. */
function wordsLike(pattern: RegExp, max: number, description: string, message: string) {
  return text({ max, description }).superRefine((value, context) => {
    if (!pattern.test(value)) context.addIssue(requestIssue('invalid_value', message));
  });
}

const archiveFormats = ['ndjson.gz', 'parquet'] as const;
export type ArchiveFormat = (typeof archiveFormats)[number];
const format = z.enum(archiveFormats);
const formatDescription = 'Format of the objects: compressed NDJSON, or Parquet.';
const prefixDescription = 'The names of all objects begin with it, without a slash at the end.';
const endpointDescription =
  'Address of the storage, such as `https://s3.eu-central-1.amazonaws.com`: `https`, port 443 or 8443, on the public internet.';

export const archiveSchema = z
  .strictObject({
    id: archiveId,
    name: z.string().meta({ description: 'A name that no other archive of the account has.' }),
    endpoint: z.string().meta({ description: endpointDescription }),
    region: z.string().meta({ description: 'Region of the bucket.' }),
    bucket: z.string().meta({ description: 'Name of the bucket.' }),
    prefix: z.string().meta({ description: prefixDescription }),
    access_key_id: z.string().meta({ description: 'Id of the access key. Its secret is never shown.' }),
    format: format.meta({ description: formatDescription }),
    rule_ids: z
      .array(ruleId)
      .nullable()
      .meta({ description: 'Only matches of these rules; null: of every rule.' }),
    state: z
      .enum(['active', 'failing'])
      .meta({ description: '`failing`: the last attempt failed. Earshot retries.' }),
    message: z.string().nullable().meta({ description: 'Why the last attempt failed; null if it did not.' }),
    failing_since: timestamp.nullable().meta({ description: 'Null while attempts succeed.' }),
    covered_through: timestamp.meta({
      description: 'Every match up to this time is in the bucket. The end of an hour.',
    }),
    created_at: timestamp.meta({ description: 'When it was created.' }),
  })
  .meta({ description: 'A bucket that Earshot writes matches to.' });

export type Archive = z.output<typeof archiveSchema>;

const exampleArchive = {
  id: 'arc_01kb2n0a4c7q5t8w3y6z1v0n2p',
  name: 'data lake',
  endpoint: 'https://s3.eu-central-1.amazonaws.com',
  region: 'eu-central-1',
  bucket: 'example-earshot',
  prefix: 'matches',
  access_key_id: 'AKIAIOSFODNN7EXAMPLE',
  format: 'parquet',
  rule_ids: null,
  state: 'active',
  message: null,
  failing_since: null,
  covered_through: '2026-11-14T22:00:00.000Z',
  created_at: '2026-11-14T22:46:00.000Z',
} as const;

/** They need the scopes of webhooks: both send matches to an address of the owner, with a secret that Earshot keeps. */
export const archiveOperations = defineOperations('Archives', {
  CreateArchive: {
    scope: 'webhooks:write',
    changes: true,
    summary: 'Create an archive',
    description:
      'Writes every match from now on to a bucket of an S3-compatible storage, once an hour. Within seconds, Earshot writes the manifest of the day, which shows whether the key works.',
    request: requestObject({
      name: text({ max: 200, description: 'A name that no other archive of the account has.' }),
      endpoint: text({ max: 500, description: endpointDescription }),
      region: wordsLike(
        /^[a-z0-9-]+$/,
        50,
        'Region of the bucket.',
        'Must be a region such as "eu-central-1".',
      ),
      bucket: wordsLike(
        /^[a-z0-9][a-z0-9.-]+[a-z0-9]$/,
        63,
        'Name of the bucket.',
        'Must be the name of a bucket: lower-case letters, digits, dots and hyphens.',
      ),
      prefix: wordsLike(
        /^[\w.=-]+(?:\/[\w.=-]+)*$/,
        200,
        prefixDescription,
        'Must have letters, digits, ".", "_", "=" and "-", and single slashes between them.',
      ),
      access_key_id: wordsLike(
        /^[\w.:@+=-]+$/,
        128,
        'Id of the access key.',
        'Must be the id of an access key.',
      ),
      secret_access_key: wordsLike(
        /^[\x21-\x7E]+$/,
        256,
        'The secret of the access key. Earshot stores it encrypted, and never shows it.',
        'Must be a secret without spaces.',
      ),
      format: format.default('ndjson.gz').meta({ description: formatDescription }),
      rule_ids: rulesFilter,
    }),
    answer: archiveSchema,
    errors: ['not_found', 'already_exists', 'failed_precondition', 'aborted'],
    example: {
      request: {
        name: exampleArchive.name,
        endpoint: exampleArchive.endpoint,
        region: exampleArchive.region,
        bucket: exampleArchive.bucket,
        prefix: exampleArchive.prefix,
        access_key_id: exampleArchive.access_key_id,
        secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
        format: exampleArchive.format,
      },
      answer: exampleArchive,
    },
  },
  ListArchives: {
    scope: 'webhooks:read',
    changes: false,
    summary: 'List archives',
    description: 'Lists the archives of the account with their state, without their secrets.',
    request: requestObject({ limit: longPageLimit, cursor: pageCursor }),
    answer: z.strictObject({
      archives: z.array(archiveSchema).meta({ description: 'Newest first.' }),
      next_cursor: nextCursor,
    }),
    example: { request: {}, answer: { archives: [exampleArchive], next_cursor: null } },
  },
  DeleteArchive: {
    scope: 'webhooks:write',
    changes: true,
    summary: 'Delete an archive',
    description: 'Ends the writing. The objects in the bucket stay.',
    request: requestObject({ archive_id: text({ max: 100, description: 'Id of the archive.' }) }),
    answer: z.strictObject({
      archive_id: archiveId,
      deleted_at: timestamp.meta({ description: 'When it was deleted.' }),
    }),
    errors: ['not_found', 'aborted'],
    example: {
      request: { archive_id: exampleArchive.id },
      answer: { archive_id: exampleArchive.id, deleted_at: '2026-11-15T08:00:00.000Z' },
    },
  },
});
