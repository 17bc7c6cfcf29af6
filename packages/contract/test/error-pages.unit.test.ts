import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { exampleErrors } from '../src/error-examples.ts';
import { type ErrorCode, errorCodes, errorReasons, errorSchema } from '../src/errors.ts';
import { openApiDocument } from '../src/openapi.ts';
import type { Operation } from '../src/operation.ts';
import { operations } from '../src/operations.ts';

const folder = new URL('../../../docs/errors/', import.meta.url);
const codes = Object.keys(errorCodes) as ErrorCode[];

function read(name: string): string {
  return readFileSync(new URL(name, folder), 'utf8');
}

test('there is a page for every code and none besides', () => {
  const pages = readdirSync(folder).filter((name) => name !== 'README.md');
  expect(pages.toSorted()).toEqual(codes.map((code) => `${code}.md`).toSorted());
});

test('the OpenAPI document and the registry know the same codes with the same statuses', () => {
  const document = openApiDocument();
  expect(document['x-error-codes']).toEqual(errorCodes);
  const envelope = document.components.schemas['Error']?.properties?.['code'];
  expect(envelope).toMatchObject({ enum: codes });
});

test('the index lists every code once, with status, title and whether to retry', () => {
  const rows = read('README.md')
    .split('\n')
    .filter((line) => line.startsWith('| ['));
  const expected = codes.map((code) => {
    const { status, title, retryable } = errorCodes[code];
    return `| [\`${code}\`](${code}.md) | ${status} | ${title} | ${retryable ? 'yes' : 'no'} |`;
  });
  expect(rows).toEqual(expected);
});

test.each(codes)('the page of %s agrees with the registry', (code) => {
  const { status, title, retryable } = errorCodes[code];
  const lines = read(`${code}.md`).split('\n');
  expect(lines[0]).toBe(`# \`${code}\``);
  expect(lines[2]).toBe(`${title}.`);
  expect(lines[4]).toBe(`* HTTP status: ${status}`);
  expect(lines[5]).toMatch(retryable ? /^\* Retry: yes\b/ : /^\* Retry: no\b/);
  const headings = lines.filter((line) => line.startsWith('## ') && line !== '## Causes');
  expect(headings).toEqual([...(code in errorReasons ? ['## Reasons'] : []), '## Example']);
});

test.each(Object.entries(errorReasons))(
  'the page of %s lists every reason in the registry',
  (code, reasons) => {
    const rows = read(`${code}.md`)
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.split(' | '));
    expect(rows.map(([reason, meaning]) => [reason, meaning])).toEqual(
      Object.entries(reasons).map(([reason, meaning]) => [`| \`${reason}\``, meaning]),
    );
    for (const cells of rows) expect(cells).toHaveLength(3);
  },
);

test.each(Object.keys(errorReasons))('the example on the page of %s has a reason', (code) => {
  expect(read(`${code}.md`)).toMatch(/"reason": "\w+"/);
});

test('the page of already_exists names every operation that can answer it', () => {
  const all: readonly Operation[] = Object.values(operations);
  const ids = all.flatMap(({ id, errors }) => (errors.includes('already_exists') ? [id] : []));
  expect(ids).toContain('CreateWebhook');
  expect(ids.filter((id) => !read('already_exists.md').includes(`\`${id}\``))).toEqual([]);
});

test('the page of unimplemented names every operation that takes GET', () => {
  const all: readonly Operation[] = Object.values(operations);
  const paths = all.flatMap(({ method, path }) => (method === 'GET' ? [path] : []));
  const [, named = ''] = /Only (.*?)\s+take `GET`/s.exec(read('unimplemented.md')) ?? [];
  expect(named.match(/\/[\w./]+/g)?.toSorted()).toEqual(paths.toSorted());
});

/** apps/server/src/http/error-examples.unit.test.ts compares the same table with real answers. */
test.each(codes)('the page of %s has the example of the table, which the contract allows', (code) => {
  const [, example] = /```json\n(.*?)```/s.exec(read(`${code}.md`)) ?? [];
  expect(JSON.parse(example ?? 'null')).toEqual(exampleErrors[code]);
  expect(errorSchema.parse(exampleErrors[code]).code).toBe(code);
});
