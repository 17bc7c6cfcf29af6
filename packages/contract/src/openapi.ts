import { diagnosticSchema, violationSchema } from './answer-fields.ts';
import { auditEntrySchema } from './audit.ts';
import { exampleErrors } from './error-examples.ts';
import { type ErrorCode, errorCodes, errorSchema } from './errors.ts';
import { type JsonSchema, jsonSchemas } from './json-schemas.ts';
import { keySchema } from './keys.ts';
import { syntaxGuideSchema } from './language.ts';
import { coverageSchema, matchSchema } from './matches.ts';
import type {
  OpenApiDocument,
  OpenApiJson,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiResponse,
} from './openapi-types.ts';
import type { Operation } from './operation.ts';
import { operations } from './operations.ts';
import { readerSchema } from './readers.ts';
import { ruleSchema } from './rule-fields.ts';
import { deliverySchema } from './webhook-deliveries.ts';
import { webhookSchema } from './webhooks.ts';

const VERSION_LABEL = '1';

/** The OpenAPI 3.1 description of the interface, made from the operations table and the error registry. */
export function openApiDocument(options: { readonly baseUrl?: string } = {}): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Earshot',
      version: VERSION_LABEL,
      description:
        'Live event monitoring for agents and programs. Earshot registers a rule on its platforms and stores the items that they deliver as matches. Every operation is also reachable as `/api.<operationId>`. Answers may gain fields: ignore those that you do not know. Times are in UTC with milliseconds.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.baseUrl ?? '/' }],
    security: [{ apiKey: [] }],
    tags: tags.map((name) => ({ name })),
    paths: { ...operationPaths(), ...openPaths() },
    components: components(),
    'x-error-codes': errorCodes,
  };
}

const tags = [...new Set(Object.values(operations).map(({ tag }) => tag)), 'Service'];

function components(): OpenApiDocument['components'] {
  const rows: readonly Operation[] = Object.values(operations);
  const posts = rows.filter((operation) => operation.method === 'POST');
  return {
    securitySchemes: {
      apiKey: {
        type: 'http',
        scheme: 'bearer',
        description: 'An API key, sent as `Authorization: Bearer <API_KEY>`.',
      },
    },
    headers: {
      RequestId: {
        description:
          "Identifies the request in Earshot's logs: the caller's `x-request-id`, if it is usable.",
        schema: { type: 'string' },
      },
      RateLimitPolicy: {
        description:
          'The limits that count this request: of the key (`default`), of the account, and of changes. `"default";q=600;w=60` means 600 requests in 60 seconds. Each node counts separately.',
        schema: { type: 'string' },
      },
      RateLimit: {
        description:
          'What is left of each limit. `"default";r=42;t=17` means 42 requests now, and the full limit in 17 seconds.',
        schema: { type: 'string' },
      },
      IdempotentReplayed: {
        description: '`true` when this is the answer of an earlier request with the same `Idempotency-Key`.',
        schema: { type: 'string' },
      },
      RetryAfter: {
        description:
          'Seconds to wait before you retry. Every 503 has it. If a 429 does not have it, waiting does not help.',
        schema: { type: 'integer', minimum: 0 },
      },
    },
    responses: { Error: defaultErrorResponse() },
    schemas: {
      ...jsonSchemas(Object.fromEntries(posts.map(({ id, request }) => [`${id}Request`, request])), 'input'),
      ...jsonSchemas(
        {
          ...Object.fromEntries(rows.map(({ id, answer }) => [`${id}Answer`, answer])),
          Rule: ruleSchema,
          Match: matchSchema,
          Coverage: coverageSchema,
          SyntaxGuide: syntaxGuideSchema,
          Diagnostic: diagnosticSchema,
          Violation: violationSchema,
          Key: keySchema,
          AuditEntry: auditEntrySchema,
          Webhook: webhookSchema,
          Delivery: deliverySchema,
          Reader: readerSchema,
          Error: errorSchema,
        },
        'output',
      ),
    },
  };
}

function operationPaths(): OpenApiDocument['paths'] {
  return Object.fromEntries(
    Object.values(operations).map((operation) => [
      operation.path,
      { [operation.method.toLowerCase()]: describeOperation(operation) },
    ]),
  );
}

function describeOperation(operation: Operation): OpenApiOperation {
  const { id, tag, summary, description, scope, example } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(scope === null ? {} : { security: [{ apiKey: [scope] }] }),
    'x-errors': operation.errors,
    ...(operation.changes ? { parameters: [idempotencyKey] } : {}),
    ...(operation.method === 'GET'
      ? { parameters: [...queryParameters(operation), ...(operation.stream ? [lastEventId] : [])] }
      : {
          requestBody: {
            required: !operation.request.safeParse({}).success,
            content: json({ $ref: schemaRef(`${id}Request`) }, example.request),
          },
        }),
    responses: {
      200: withHeaders(success(operation), {
        'ratelimit-policy': { $ref: '#/components/headers/RateLimitPolicy' },
        ratelimit: { $ref: '#/components/headers/RateLimit' },
        ...(operation.changes
          ? { 'idempotent-replayed': { $ref: '#/components/headers/IdempotentReplayed' } }
          : {}),
      }),
      ...errorResponses(operation.errors),
      default: { $ref: '#/components/responses/Error' },
    },
  };
}

/** OpenAPI 3.1 cannot describe a stream: the schema is that of one event, whose `data` is sent as JSON. */
function success({ id, stream, file, example }: Operation): OpenApiResponse {
  const schema = { $ref: schemaRef(`${id}Answer`) };
  if (file) return fileOf(file, schema, example.answer);
  if (!stream) return answer('The answer.', schema, example.answer);
  return {
    ...answer('An endless stream of server-sent events of this form.', schema),
    content: { 'text/event-stream': { schema, example: example.answer } },
  };
}

/** Only a line of NDJSON has a schema. */
function fileOf(types: readonly string[], schema: JsonSchema, example: object): OpenApiResponse {
  const row = { schema, example };
  const bytes = { schema: { type: 'string', format: 'binary' }, example: '…' } as const;
  const header = (description: string) => ({ description, schema: { type: 'string' } as const });
  return {
    ...answer(
      'The file. NDJSON has a row of this form on each line; the others have the same columns.',
      schema,
    ),
    headers: {
      'x-request-id': { $ref: '#/components/headers/RequestId' },
      'x-export-through': header('Id of the last match of the export.'),
      'x-export-cursor': header('Cursor of the next file; absent if this one reaches the end of the export.'),
    },
    content: Object.fromEntries(types.map((type) => [type, type.endsWith('ndjson') ? row : bytes])),
  };
}

const lastEventId: OpenApiParameter = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'The `id` of the last event that the client received. The stream continues after it.',
  schema: { type: 'string', maxLength: 1_024 },
};

const idempotencyKey: OpenApiParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes retries safe. For 24 hours, a request with the same key and body gets the first answer, and nothing is done twice. A request with another body gets `invalid_argument`; while the first request runs, `aborted`. A failed request frees its key. Keys are separate per account and operation.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

function withHeaders(response: OpenApiResponse, headers: OpenApiResponse['headers']): OpenApiResponse {
  return { ...response, headers: { ...response.headers, ...headers } };
}

/** A query parameter is text, but is described by the type that it is parsed to. */
function queryParameters({ id, request, example }: Operation): OpenApiParameter[] {
  const schema = jsonSchemas({ [id]: request }, 'output')[id];
  const values = new Map(Object.entries(request.parse(example.request)));
  return Object.entries(schema?.properties ?? {}).flatMap(([name, property]) => {
    if (typeof property === 'boolean') return [];
    const { description, ...rest } = property;
    return [
      {
        name,
        in: 'query',
        required: schema?.required?.includes(name) ?? false,
        ...(description === undefined ? {} : { description }),
        schema: rest,
        ...(values.has(name) ? { example: values.get(name) } : {}),
      },
    ];
  });
}

function errorResponses(codes: readonly ErrorCode[]): Record<string, OpenApiResponse> {
  const byStatus = Map.groupBy(codes, (code) => errorCodes[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, sharing]) => {
      const description = sharing.map((code) => `\`${code}\`: ${errorCodes[code].when}`).join(' ');
      const retryAfter: OpenApiResponse['headers'] =
        status === 429 || status === 503
          ? { 'retry-after': { $ref: '#/components/headers/RetryAfter' } }
          : {};
      const [first = 'internal'] = sharing;
      const response = answer(description, { $ref: schemaRef('Error') }, exampleErrors[first]);
      return [status, { ...response, headers: { ...response.headers, ...retryAfter } }];
    }),
  );
}

function defaultErrorResponse(): OpenApiResponse {
  const response = answer('Any error.', { $ref: schemaRef('Error') }, exampleErrors.not_found);
  return {
    ...response,
    headers: { ...response.headers, 'retry-after': { $ref: '#/components/headers/RetryAfter' } },
  };
}

/** Paths without a key: for load balancers, orchestrators and client generators. */
function openPaths(): OpenApiDocument['paths'] {
  const status: JsonSchema = {
    type: 'object',
    required: ['status'],
    properties: { status: { type: 'string' } },
  };
  return {
    '/healthz': open('Healthz', 'Check liveness', answer('The process is alive.', status, { status: 'ok' })),
    '/readyz': open(
      'Readyz',
      'Check readiness',
      answer('The process can serve requests.', status, { status: 'ready' }),
      ['unavailable'],
    ),
    '/openapi.json': open(
      'OpenApi',
      'Get the OpenAPI document',
      answer(
        'The document.',
        { type: 'object' },
        { openapi: '3.1.0', info: { title: 'Earshot', version: VERSION_LABEL } },
      ),
    ),
  };
}

function open(
  operationId: string,
  summary: string,
  success: OpenApiResponse,
  errors: readonly ErrorCode[] = [],
): { get: OpenApiOperation } {
  return {
    get: {
      operationId,
      tags: ['Service'],
      summary,
      description: `${summary}. Needs no key.`,
      security: [],
      'x-errors': errors,
      responses: {
        200: success,
        ...errorResponses(errors),
        default: { $ref: '#/components/responses/Error' },
      },
    },
  };
}

function answer(description: string, schema: JsonSchema, example?: unknown): OpenApiResponse {
  return {
    description,
    headers: { 'x-request-id': { $ref: '#/components/headers/RequestId' } },
    content: json(schema, example),
  };
}

function json(schema: JsonSchema, example?: unknown): OpenApiJson {
  return { 'application/json': { schema, ...(example === undefined ? {} : { example }) } };
}

function schemaRef(name: string): string {
  return `#/components/schemas/${name}`;
}
