import { type Template } from '@earshot/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { textArray } from '../src/engines/database.ts';
import { createMigratedTemplate, openTestDatabase } from './support.ts';

let template: Template;
beforeAll(async () => {
  template = await createMigratedTemplate();
});
afterAll(() => template?.[Symbol.asyncDispose]());

test.each([
  ['nothing', []],
  [
    'JSON, empty texts and what an array in text would have to escape',
    ['{"a":"b\\n"}', '', 'NULL', '{,}', '"\\', ' a '],
  ],
  ['characters of two, three and four bytes', ['é', '漢字', '👋🏽']],
  ['many', Array.from({ length: 1_000 }, (_, n) => `${n}`.repeat(n % 50))],
])('PostgreSQL reads an array of %s as it was given', async (_, values) => {
  await using clone = await template.clone();
  await using database = openTestDatabase(clone.url);
  const row = await database.one<{ given: string[] }>('select $1::text[] as given', [textArray(values)]);
  expect(row?.given).toEqual(values);
});

test('a text with U+0000 is refused as data, not taken shorter', async () => {
  await using clone = await template.clone();
  await using database = openTestDatabase(clone.url);
  await expect(database.one('select $1::text[]', [textArray(['a\0b'])])).rejects.toMatchObject({
    code: '22021',
  });
});
