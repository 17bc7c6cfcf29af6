import aws4 from 'aws4';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodePath, signRequest } from './sign-v4.ts';

const keys = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};
const at = new Date('2013-05-24T00:00:00Z');

/** The examples of "Signature Calculations for the Authorization Header: Transferring Payload in a Single Chunk". */
test.each([
  {
    request: {
      method: 'GET',
      url: new URL('https://examplebucket.s3.amazonaws.com/test.txt'),
      headers: { range: 'bytes=0-9' },
      body: Buffer.from(''),
    },
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
  {
    request: {
      method: 'PUT',
      url: new URL(`https://examplebucket.s3.amazonaws.com/${encodePath('test$file.text')}`),
      headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      body: Buffer.from('Welcome to Amazon S3.'),
    },
    signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  },
  {
    request: {
      method: 'GET',
      url: new URL('https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J'),
      headers: {},
      body: Buffer.from(''),
    },
    signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  },
] as const)('signs the $request.method example of AWS', ({ request, signature }) => {
  const { authorization = '' } = signRequest(request, keys, at);
  expect(authorization).toContain(`Signature=${signature}`);
});

test('signs any name as an independent implementation does', () => {
  const words = fc
    .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 20 })
    .filter((word) => !/[/\\]|^\.+$/.test(word));
  fc.assert(
    fc.property(fc.array(words, { minLength: 1, maxLength: 4 }), (names) => {
      const path = `/bucket/${encodePath(names.join('/'))}`;
      const body = Buffer.from('body');
      const url = new URL(`http://127.0.0.1:9000${path}`);
      const signed = signRequest({ method: 'PUT', url, headers: { 'content-type': 'a/b' }, body }, keys, at);
      const { authorization, ...headers } = signed;
      const theirs = aws4.sign(
        { service: 's3', region: keys.region, method: 'PUT', path: url.pathname, headers },
        { accessKeyId: keys.accessKeyId, secretAccessKey: keys.secretAccessKey },
      );
      expect(authorization?.split('Signature=')[1]).toBe(
        String(theirs.headers?.['Authorization']).split('Signature=')[1],
      );
    }),
  );
});
