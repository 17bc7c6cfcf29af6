import { expect, test } from 'vitest';
import { issuerKeyHash } from './trusted-issuer.ts';

test('two programs of an issuer never share a key, whatever their names contain', () => {
  const hash = (program: string, sub: string) =>
    issuerKeyHash(['https://issuer.example', 'acc_1', program, sub]);
  expect(hash('a\nb', 'c')).not.toEqual(hash('a', 'b\nc'));
  expect(hash('a","b', 'c')).not.toEqual(hash('a', 'b","c'));
});
