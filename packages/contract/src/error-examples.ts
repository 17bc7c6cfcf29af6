import { exampleCursor } from './answer-fields.ts';
import type { ErrorCode, ErrorEnvelope } from './errors.ts';

const request_id = 'req_01kb2mp8r4t7v1x5z9b3c6d0fg';

/** One answer per code, for docs/errors and the OpenAPI document. A test of the server compares them with its real answers. */
export const exampleErrors: Readonly<Record<ErrorCode, ErrorEnvelope>> = {
  invalid_argument: {
    code: 'invalid_argument',
    message: 'nmae: "nmae" is not a field of this request. Did you mean "name"?',
    details: {
      request_id,
      violations: [
        {
          field: 'nmae',
          code: 'unknown_field',
          message: '"nmae" is not a field of this request. Did you mean "name"?',
        },
        { field: 'name', code: 'required', message: '"name" is required.' },
      ],
    },
  },
  failed_precondition: {
    code: 'failed_precondition',
    message: 'The rule is not paused. You can only resume a paused rule.',
    details: { request_id, reason: 'not_paused' },
  },
  out_of_range: {
    code: 'out_of_range',
    message: 'The cursor is older than the retention period. Continue from details.oldest_cursor.',
    details: { request_id, reason: 'retention', oldest_cursor: exampleCursor },
  },
  unauthenticated: {
    code: 'unauthenticated',
    message: 'Send a valid API key as "Authorization: Bearer <API_KEY>".',
    details: { request_id },
  },
  permission_denied: {
    code: 'permission_denied',
    message: 'The key lacks the scope "rules:write". Use a key that has it.',
    details: { request_id, required_scope: 'rules:write' },
  },
  not_found: {
    code: 'not_found',
    message: 'The rule does not exist. List your rules to see their ids.',
    details: { request_id },
  },
  already_exists: {
    code: 'already_exists',
    message: 'The name "alerts" is in use. Choose another name.',
    details: { request_id },
  },
  aborted: {
    code: 'aborted',
    message: 'Another change of this rule is in progress. Send the request again.',
    details: { request_id, reason: 'conflict' },
  },
  resource_exhausted: {
    code: 'resource_exhausted',
    message: 'The account has 25 of 25 rules on x. Delete one, or ask support@example.com for more.',
    details: {
      request_id,
      reason: 'plan_limit',
      platform: 'x',
      limit: 25,
      used: 25,
      contact: 'support@example.com',
    },
  },
  internal: {
    code: 'internal',
    message: 'Something went wrong on our side.',
    details: { request_id },
  },
  unimplemented: {
    code: 'unimplemented',
    message: '/api.CreateRule does not support GET. Send POST.',
    details: { request_id },
  },
  unavailable: {
    code: 'unavailable',
    message: 'x cannot register rules at the moment; nothing was created. Try again in 30 s.',
    details: { request_id, reason: 'platform', platform: 'x' },
  },
  deadline_exceeded: {
    code: 'deadline_exceeded',
    message: 'firehose did not confirm the rule in time; nothing was created. Send the request again.',
    details: { request_id, platform: 'firehose' },
  },
};
