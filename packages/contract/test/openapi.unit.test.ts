import { expect, test } from 'vitest';
import { errorCodes } from '../src/errors.ts';
import { openApiDocument } from '../src/openapi.ts';
import type { OpenApiOperation } from '../src/openapi-types.ts';
import type { Operation } from '../src/operation.ts';
import { operations } from '../src/operations.ts';
import { scopes } from '../src/scopes.ts';
import { mismatch } from './json-schema-mismatch.ts';

const document = openApiDocument();
const { schemas } = document.components;
const described = Object.values(document.paths)
  .flatMap((path) => [path.get, path.post])
  .filter((operation) => operation !== undefined);
const rows: readonly Operation[] = Object.values(operations);

function describedAs(row: Operation): OpenApiOperation {
  const found = described.find((operation) => operation.operationId === row.id);
  if (found === undefined) throw new Error(`${row.id} is not in the document`);
  return found;
}

/** Every object inside a JSON value, including the value itself. */
function* objectsIn(value: unknown): Generator<object> {
  if (typeof value !== 'object' || value === null) return;
  yield value;
  for (const child of Object.values(value)) yield* objectsIn(child);
}

function resolves(reference: string): boolean {
  let target: unknown = document;
  for (const step of reference.replace(/^#\//, '').split('/')) {
    target = new Map(Object.entries(target ?? {})).get(step);
  }
  return reference.startsWith('#/') && target !== undefined;
}

test('the document is plain JSON with the version label 1', () => {
  expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  expect(document.openapi).toBe('3.1.0');
  expect(document.info.version).toBe('1');
});

test('the server URL is the given base URL', () => {
  expect(openApiDocument({ baseUrl: 'https://earshot.example' }).servers).toEqual([
    { url: 'https://earshot.example' },
  ]);
});

test('every reference in the document resolves', () => {
  const references = [...objectsIn(document)].flatMap((object) =>
    '$ref' in object ? [String(object.$ref)] : [],
  );
  expect(references.length).toBeGreaterThan(20);
  expect(references.filter((reference) => !resolves(reference))).toEqual([]);
});

test('no schema has an $id, which would change the meaning of references', () => {
  for (const object of objectsIn(schemas)) {
    expect(object).not.toHaveProperty('$id');
    expect(object).not.toHaveProperty('$schema');
  }
});

test('the paths are those of the operations, and the open ones', () => {
  for (const { id, method, path } of rows) {
    const paths = document.paths[path];
    expect((method === 'GET' ? paths?.get : paths?.post)?.operationId).toBe(id);
  }
  expect(Object.keys(document.paths)).toEqual([
    ...rows.map(({ path }) => path),
    '/healthz',
    '/readyz',
    '/openapi.json',
  ]);
});

test('operation ids are unique', () => {
  const ids = described.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test.each(rows)('the examples of $id fit the schemas in the document', (row) => {
  const operation = describedAs(row);
  const ok = operation.responses['200'];
  const contents = [operation.requestBody?.content, ok && 'content' in ok ? ok.content : undefined];
  const bodies = contents.flatMap((content) => Object.values(content ?? {}));
  expect(bodies).toHaveLength((row.method === 'GET' ? 0 : 1) + (row.file?.length ?? 1));
  for (const { schema, example } of bodies) {
    expect(example).toBeDefined();
    expect(mismatch(schema, example, schemas)).toBeUndefined();
  }
});

test('a body is required only if the operation refuses an empty one', () => {
  expect(describedAs(operations.ListReaders).requestBody?.required).toBe(false);
  expect(describedAs(operations.CreateRule).requestBody?.required).toBe(true);
});

test('every body has a fitting example, and every operation has a request and an answer', () => {
  const bodies = [...objectsIn(document)].flatMap((object) =>
    'content' in object ? Object.values(object.content as object) : [],
  );
  // Each operation has a request, an answer and the common errors. The open paths have more.
  expect(bodies.length).toBeGreaterThan(rows.length * 6);
  for (const { schema, example } of bodies) {
    expect(example).toBeDefined();
    expect(mismatch(schema, example, schemas)).toBeUndefined();
  }
  for (const { operationId, requestBody, responses, parameters = [], security } of described) {
    const answers = Object.entries(responses).filter(([status]) => status === '200');
    expect([operationId, answers.length]).toEqual([operationId, 1]);
    const shown = parameters.filter((parameter) => parameter.example !== undefined);
    const hasRequest = requestBody !== undefined || shown.length > 0 || security?.length === 0;
    expect([operationId, hasRequest]).toEqual([operationId, true]);
  }
});

test('the example of the error response fits its schema', () => {
  const content = document.components.responses['Error']?.content['application/json'];
  expect(content?.example).toBeDefined();
  expect(content && mismatch(content.schema, content.example, schemas)).toBeUndefined();
});

test('query parameters have limits and a fitting example', () => {
  const [limit, cursor] = describedAs(operations.ListRules).parameters ?? [];
  expect(limit).toMatchObject({
    name: 'limit',
    required: false,
    schema: { type: 'integer', minimum: 1, maximum: 1_000 },
  });
  expect(limit && mismatch(limit.schema, limit.example, schemas)).toBeUndefined();
  expect(cursor).toMatchObject({ name: 'cursor', required: false, schema: { type: 'string' } });
});

test('requests refuse unknown fields, and answers allow later fields', () => {
  expect(schemas['CreateRuleRequest']?.additionalProperties).toBe(false);
  expect(
    mismatch(
      schemas['CreateRuleRequest'] ?? false,
      { ...operations.CreateRule.example.request, a: 1 },
      schemas,
    ),
  ).toBe('$ must NOT have additional properties');
  for (const object of objectsIn(schemas['ListMatchesAnswer'])) {
    expect(object).not.toHaveProperty('additionalProperties', false);
  }
});

test('rules, matches and diagnostics are named schemas', () => {
  expect(JSON.stringify(schemas['ListRulesAnswer'])).toContain('"#/components/schemas/Rule"');
  expect(JSON.stringify(schemas['ListMatchesAnswer'])).toContain('"#/components/schemas/Match"');
  expect(JSON.stringify(schemas['CreateRuleAnswer'])).toContain('"#/components/schemas/Diagnostic"');
});

test('fields with a default are not required', () => {
  expect(schemas['ListMatchesRequest']?.required).toBeUndefined();
});

test.each(described)(
  '$operationId describes its errors by registered status, and any other by default',
  (operation) => {
    const expected = new Set(operation['x-errors'].map((code) => String(errorCodes[code].status)));
    const statuses = Object.keys(operation.responses).filter(
      (status) => status !== '200' && status !== 'default',
    );
    expect(new Set(statuses)).toEqual(expected);
    expect(operation.responses['default']).toEqual({ $ref: '#/components/responses/Error' });
  },
);

test('every response has the request id header, and 429 and 503 have Retry-After', () => {
  const responses = described.flatMap(({ responses }) => Object.entries(responses));
  for (const [status, response] of [...responses, ...Object.entries(document.components.responses)]) {
    if ('$ref' in response) continue;
    expect(response.headers).toHaveProperty('x-request-id');
    expect('retry-after' in response.headers).toBe(['429', '503', 'Error'].includes(status));
  }
});

test('each operation has its scope, only the open paths need no key, and every scope is used', () => {
  for (const row of rows)
    expect(describedAs(row).security).toEqual(row.scope === null ? undefined : [{ apiKey: [row.scope] }]);
  const open = described
    .filter(({ security }) => security?.length === 0)
    .map(({ operationId }) => operationId);
  expect(open).toEqual(['Healthz', 'Readyz', 'OpenApi']);
  expect(document.security).toEqual([{ apiKey: [] }]);
  expect(new Set(rows.flatMap(({ scope }) => scope ?? []))).toEqual(new Set(scopes));
});

test('every operation with a scope to write or label counts as a change, except the list of keys', () => {
  const differing = rows.filter(({ scope, changes }) => /:(write|label)$/.test(scope ?? '') !== changes);
  expect(differing.map(({ id }) => id)).toEqual(['ListKeys']);
});

test('only operations that change something have an Idempotency-Key, and all have rate limit headers', () => {
  for (const row of rows) {
    const { parameters = [], responses } = describedAs(row);
    const inHeader = parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name);
    const expected = row.stream ? ['Last-Event-ID'] : [];
    expect(inHeader).toEqual(row.changes ? ['Idempotency-Key'] : expected);
    const ok = responses['200'];
    const headers = ok && 'headers' in ok ? Object.keys(ok.headers) : [];
    expect(headers).toEqual(expect.arrayContaining(['ratelimit', 'ratelimit-policy']));
    expect(headers.includes('idempotent-replayed')).toBe(row.changes);
  }
});
