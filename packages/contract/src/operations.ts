import type { z } from 'zod';
import { listAuditAnswer, listAuditRequest } from './audit.ts';
import { getCoverageAnswer, getCoverageExample, getCoverageRequest } from './coverage.ts';
import { commonErrors, type ErrorCode } from './errors.ts';
import { examples } from './examples.ts';
import { accountExamples } from './examples-account.ts';
import {
  createKeyAnswer,
  createKeyRequest,
  listKeysAnswer,
  listKeysRequest,
  revokeKeyAnswer,
  revokeKeyRequest,
} from './keys.ts';
import { listMatchesAnswer, listMatchesRequest } from './matches.ts';
import { readerOperations } from './operations-readers.ts';
import { webhookOperations } from './operations-webhooks.ts';
import {
  getRuleAnswer,
  getRuleRequest,
  pauseRuleAnswer,
  pauseRuleRequest,
  resumeRuleAnswer,
  resumeRuleRequest,
  updateRuleAnswer,
  updateRuleRequest,
} from './rule-lifecycle.ts';
import {
  createRuleAnswer,
  createRuleRequest,
  deleteRuleAnswer,
  deleteRuleRequest,
  listRulesAnswer,
  listRulesRequest,
} from './rules.ts';
import type { Scope } from './scopes.ts';
import { platformSyntaxAnswer, platformSyntaxRequest } from './syntax.ts';
import { validateRuleAnswer, validateRuleRequest } from './validate.ts';

export interface Operation {
  readonly id: string;
  /** The request of a GET is its query string, that of a POST its JSON body. */
  readonly method: 'GET' | 'POST';
  readonly path: `/${string}`;
  /** The scope that the key needs; null when any valid key will do. */
  readonly scope: Scope | null;
  /** It changes something: it takes an `Idempotency-Key`, counts as a change, and is audited. */
  readonly changes: boolean;
  /** The answer is a stream of server-sent events, each like `answer`. */
  readonly stream?: boolean;
  readonly summary: string;
  readonly description: string;
  readonly request: z.ZodObject;
  readonly answer: z.ZodObject;
  readonly errors: readonly ErrorCode[];
  readonly example: { readonly request: object; readonly answer: object };
}

/** The operations of the interface: routes, OpenAPI document and reference page all come from this table. */
export const operations = {
  CreateRule: {
    id: 'CreateRule',
    method: 'POST',
    path: '/api.CreateRule',
    scope: 'rules:write',
    changes: true,
    summary: 'Create a rule',
    description:
      'Creates the rule on all listed platforms, or fails and leaves nothing behind. Its `examples` are checked first.',
    request: createRuleRequest,
    answer: createRuleAnswer,
    errors: [...commonErrors, 'permission_denied', 'already_exists', 'aborted', 'deadline_exceeded'],
    example: examples.createRule,
  },
  ListRules: {
    id: 'ListRules',
    method: 'GET',
    path: '/api.ListRules',
    scope: 'rules:read',
    changes: false,
    summary: 'List rules',
    description: 'Lists the rules of the account, newest first. Without parameters the answer is complete.',
    request: listRulesRequest,
    answer: listRulesAnswer,
    errors: [...commonErrors, 'permission_denied'],
    example: examples.listRules,
  },
  GetRule: {
    id: 'GetRule',
    method: 'POST',
    path: '/api.GetRule',
    scope: 'rules:read',
    changes: false,
    summary: 'Get a rule',
    description: 'Answers one rule as it is now.',
    request: getRuleRequest,
    answer: getRuleAnswer,
    errors: [...commonErrors, 'permission_denied', 'not_found'],
    example: examples.getRule,
  },
  UpdateRule: {
    id: 'UpdateRule',
    method: 'POST',
    path: '/api.UpdateRule',
    scope: 'rules:write',
    changes: true,
    summary: 'Change a rule',
    description:
      'Changes the fields that are named, as the next version of the rule. A new value is registered before the old one is given up, so no post between them is missed; for some seconds the old one may still match, and such matches bear its version. When a platform refuses the new value, the rule stays as it was.',
    request: updateRuleRequest,
    answer: updateRuleAnswer,
    errors: [
      ...commonErrors,
      'permission_denied',
      'not_found',
      'already_exists',
      'failed_precondition',
      'aborted',
      'deadline_exceeded',
    ],
    example: examples.updateRule,
  },
  PauseRule: {
    id: 'PauseRule',
    method: 'POST',
    path: '/api.PauseRule',
    scope: 'rules:write',
    changes: true,
    summary: 'Pause a rule',
    description:
      'Takes the rule from its platforms and keeps it with its matches. A paused rule still counts as a rule of the plan.',
    request: pauseRuleRequest,
    answer: pauseRuleAnswer,
    errors: [...commonErrors, 'permission_denied', 'not_found', 'failed_precondition', 'aborted'],
    example: examples.pauseRule,
  },
  ResumeRule: {
    id: 'ResumeRule',
    method: 'POST',
    path: '/api.ResumeRule',
    scope: 'rules:write',
    changes: true,
    summary: 'Resume a paused rule',
    description: 'Registers the rule on all its platforms again, or fails and leaves it paused.',
    request: resumeRuleRequest,
    answer: resumeRuleAnswer,
    errors: [
      ...commonErrors,
      'permission_denied',
      'not_found',
      'failed_precondition',
      'aborted',
      'deadline_exceeded',
    ],
    example: examples.resumeRule,
  },
  DeleteRule: {
    id: 'DeleteRule',
    method: 'POST',
    path: '/api.DeleteRule',
    scope: 'rules:write',
    changes: true,
    summary: 'Delete a rule',
    description:
      'Deletes the rule. Its matches stop being listed at once, and it leaves the platforms within seconds.',
    request: deleteRuleRequest,
    answer: deleteRuleAnswer,
    errors: [...commonErrors, 'permission_denied', 'not_found', 'failed_precondition', 'aborted'],
    example: examples.deleteRule,
  },
  ListMatches: {
    id: 'ListMatches',
    method: 'POST',
    path: '/matches',
    scope: 'matches:read',
    changes: false,
    summary: 'List matches',
    description:
      'Lists stored matches. To follow them, ask with `order: "oldest"`, keep `next_cursor`, and ask again with it.',
    request: listMatchesRequest,
    answer: listMatchesAnswer,
    errors: [...commonErrors, 'permission_denied', 'not_found', 'out_of_range'],
    example: examples.listMatches,
  },
  GetCoverage: {
    id: 'GetCoverage',
    method: 'POST',
    path: '/api.GetCoverage',
    scope: 'matches:read',
    changes: false,
    summary: 'Get coverage',
    description:
      'Says when a rule, or a platform, was listened to: live, with a gap, repaired since, or not watched. So that silence can be told from deafness.',
    request: getCoverageRequest,
    answer: getCoverageAnswer,
    errors: [...commonErrors, 'permission_denied', 'not_found'],
    example: getCoverageExample,
  },
  ...readerOperations,
  ValidateRule: {
    id: 'ValidateRule',
    method: 'POST',
    path: '/api.ValidateRule',
    scope: 'rules:read',
    changes: false,
    summary: 'Check a rule without creating it',
    description:
      'Says what is wrong with the values, where, and how to mend it, and what would be registered. Nothing is created.',
    request: validateRuleRequest,
    answer: validateRuleAnswer,
    errors: [...commonErrors, 'permission_denied'],
    example: examples.validateRule,
  },
  PlatformSyntax: {
    id: 'PlatformSyntax',
    method: 'POST',
    path: '/platforms/syntax',
    scope: null,
    changes: false,
    summary: 'Get platform syntax',
    description: 'Explains how to write rules for each platform. Any valid key may ask.',
    request: platformSyntaxRequest,
    answer: platformSyntaxAnswer,
    errors: commonErrors,
    example: examples.platformSyntax,
  },
  CreateKey: {
    id: 'CreateKey',
    method: 'POST',
    path: '/api.CreateKey',
    scope: 'keys:write',
    changes: true,
    summary: 'Create a key',
    description: 'Creates another key of the account, which may do no more than the key that asks.',
    request: createKeyRequest,
    answer: createKeyAnswer,
    errors: [...commonErrors, 'permission_denied', 'aborted'],
    example: accountExamples.createKey,
  },
  ListKeys: {
    id: 'ListKeys',
    method: 'POST',
    path: '/api.ListKeys',
    scope: 'keys:write',
    changes: false,
    summary: 'List keys',
    description: 'Lists the keys of the account that work, without the keys themselves.',
    request: listKeysRequest,
    answer: listKeysAnswer,
    errors: [...commonErrors, 'permission_denied'],
    example: accountExamples.listKeys,
  },
  RevokeKey: {
    id: 'RevokeKey',
    method: 'POST',
    path: '/api.RevokeKey',
    scope: 'keys:write',
    changes: true,
    summary: 'Revoke a key',
    description: 'Ends a key of the account: within 5 seconds no node accepts it any more.',
    request: revokeKeyRequest,
    answer: revokeKeyAnswer,
    errors: [...commonErrors, 'permission_denied', 'not_found', 'aborted'],
    example: accountExamples.revokeKey,
  },
  ListAudit: {
    id: 'ListAudit',
    method: 'POST',
    path: '/api.ListAudit',
    scope: 'audit:read',
    changes: false,
    summary: 'List changes',
    description: 'Lists who changed which rule or key of the account, and when. Newest first.',
    request: listAuditRequest,
    answer: listAuditAnswer,
    errors: [...commonErrors, 'permission_denied'],
    example: accountExamples.listAudit,
  },
  ...webhookOperations,
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof operations;

/** A request as a handler sees it: parsed, with its defaults. */
export type RequestOf<Id extends OperationId> = z.output<(typeof operations)[Id]['request']>;

/** A request as a caller writes it: what has a default may be left out. */
export type RequestInput<Id extends OperationId> = z.input<(typeof operations)[Id]['request']>;

export type AnswerOf<Id extends OperationId> = z.output<(typeof operations)[Id]['answer']>;
