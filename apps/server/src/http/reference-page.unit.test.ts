import { type JsonSchema, type OpenApiDocument, openApiDocument } from '@earshot/contract';
import { expect, test } from 'vitest';
import { renderReferencePage } from './reference-page.ts';
import { fieldRows } from './reference-page-fields.ts';

const document = openApiDocument();
const page = renderReferencePage(document);

function plainText(html: string): string {
  return html
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

test('every operation, path and error code of the document is on the page', () => {
  const wanted = [
    ...Object.keys(document.paths).map((path) => `<code>${path}</code>`),
    ...Object.keys(document['x-error-codes']).map((code) => `id="error-${code}"`),
  ];
  expect(wanted.filter((part) => !page.includes(part))).toEqual([]);
});

test('every link inside the page has a target, and every id is unique', () => {
  const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, target]) => target);
  expect(links.length).toBeGreaterThan(20);
  expect(links.filter((target) => !ids.includes(target))).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

test('the page needs nothing from outside and runs no script', () => {
  expect(page).not.toMatch(/<script|<link|<img|@import|url\(| on\w+=|src=/i);
});

test('a curl example carries the body that the document gives as an example', () => {
  const [, body] = /api\.CreateRule" \\\n.*?-d '(\{.*?\n\})'/s.exec(plainText(page)) ?? [];
  const example = document.paths['/api.CreateRule']?.post?.requestBody?.content['application/json'].example;
  expect(JSON.parse(body ?? 'null')).toEqual(example);
});

test('a quote inside an example does not end the shell word', () => {
  const text = plainText(renderReferencePage(withCreateRuleExample({ name: "it's" })));
  expect(text).toContain(String.raw`"name": "it'\''s"`);
});

test('text from the document cannot become markup', () => {
  const hostile = '<img src=x onerror="alert(1)">&`<b>`';
  const rendered = renderReferencePage({
    ...withCreateRuleExample({ name: hostile }),
    info: { title: hostile, version: hostile, description: hostile },
    servers: [{ url: hostile }],
  });
  expect(rendered).not.toContain('<img');
  expect(rendered).not.toContain('<b>');
  expect(rendered).toContain('&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;<code>&lt;b&gt;</code>');
});

test('the fields of an object are listed flat, with their bounds, defaults and named objects', () => {
  const rows = fieldRows({
    type: 'object',
    required: ['items'],
    properties: {
      items: { type: 'array', items: { $ref: '#/components/schemas/Match' } },
      count: { type: 'integer', minimum: 1, maximum: 1_000, default: 5 },
      gaps: {
        anyOf: [
          {
            type: 'array',
            items: { type: 'object', properties: { from: { type: 'string', format: 'date-time' } } },
          },
          { type: 'null' },
        ],
      },
    },
  });
  expect(rows.map(({ path, type, required, object }) => [path, type, required, object])).toEqual([
    ['items', 'array of Match', true, 'Match'],
    ['count', 'integer, 1–1,000, default 5', false, undefined],
    ['gaps', 'array of object or null', false, undefined],
    ['gaps[].from', 'RFC 3339 time', false, undefined],
  ]);
});

test('objects that are alike on every platform are listed once', () => {
  const perPlatform: JsonSchema = { type: 'object', properties: { status: { enum: ['active', 'failed'] } } };
  const rows = fieldRows({
    type: 'object',
    properties: { x: { ...perPlatform }, firehose: { ...perPlatform } },
  });
  expect(rows.map(({ path, description }) => [path, description])).toEqual([
    ['*', 'For each of `x` and `firehose` that applies.'],
    ['*.status', ''],
  ]);
});

function withCreateRuleExample(example: unknown): OpenApiDocument {
  const path = '/api.CreateRule';
  const post = document.paths[path]?.post;
  if (post?.requestBody === undefined) throw new Error('CreateRule has no request body');
  const { schema } = post.requestBody.content['application/json'];
  const requestBody = { required: true, content: { 'application/json': { schema, example } } } as const;
  return { ...document, paths: { ...document.paths, [path]: { post: { ...post, requestBody } } } };
}
