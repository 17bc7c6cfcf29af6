import { expect, test } from 'vitest';
import { compileRule } from '../../src/bluesky/matcher.ts';
import { dids, rootOf } from './posts.ts';

test.each([
  ['glacier', ['glacier']],
  ['ice glacier', ['glacier']],
  ['about the glacier', ['glacier']],
  ['ice https', ['ice']],
  ['ice lang:en has:images', ['ice']],
  [`glacier from:${dids.ada}`, [`from:${dids.ada}`]],
  ['glacier #ice', ['#ice']],
  ['"my blue glacier"', ['glacier']],
  ['(a OR b OR my) glacier', ['glacier']],
  ['(glacier OR (lake ice)) the', ['glacier', 'lake']],
  ['url:"www.glacier.com"', ['url:glacier']],
  ['url:"https://ice"', ['url:ice']],
  ['氷河', ['~氷河']],
  ['lang:en -glacier', ['lang:en']],
  ['-glacier', undefined],
  ['glacier OR -lake', undefined],
])('%s is looked up by %j', (rule, keys) => {
  expect(compileRule(rootOf(rule), () => 0).anyOfKeys).toEqual(keys);
});

test('a key that many rules have is left to them', () => {
  const countOf = (key: string) => (key === 'url:example' ? 1_000 : 0);
  expect(compileRule(rootOf('url:"acme.example"'), () => 0).anyOfKeys).toEqual(['url:example']);
  expect(compileRule(rootOf('url:"acme.example"'), countOf).anyOfKeys).toEqual(['url:acme']);
});
