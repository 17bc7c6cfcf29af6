import { expect, test } from 'vitest';
import { newSecret, readSecret, readTarget } from '../src/forward.ts';

test.each([
  'http://localhost:3000/hook',
  'https://localhost/',
  'http://app.localhost/',
  'http://127.0.0.1:9/',
  'http://127.8.9.1/',
  'http://2130706433/',
  'http://[::1]:3000/',
])('%s is on this machine', (url) => {
  expect(readTarget(url, false).href).toBe(new URL(url).href);
});

test.each([
  'http://192.0.2.1/',
  'http://localhost.example/',
  'http://127.0.0.1.example/',
  'http://notlocalhost/',
  'http://[::2]/',
  'http://0.0.0.0/',
])('%s is on another machine, and needs --allow-remote', (url) => {
  expect(() => readTarget(url, false)).toThrow('--allow-remote');
  expect(readTarget(url, true).href).toBe(new URL(url).href);
});

test.each(['localhost:3000', 'ftp://localhost/', 'http://user@localhost/', ''])(
  '"%s" is not a URL to post to',
  (url) => {
    expect(() => readTarget(url, true)).toThrow('takes a URL such as');
  },
);

test('only Standard Webhooks secrets are accepted', () => {
  const made = newSecret();
  expect(readSecret(made)).toBe(made);
  const bytes = (count: number) => Buffer.alloc(count, 1).toString('base64');
  expect(readSecret(`whsec_${bytes(24)}`)).toBe(`whsec_${bytes(24)}`);
  for (const wrong of [
    '',
    'whsec_',
    `whsec_${bytes(23)}`,
    `whsec_${bytes(65)}`,
    bytes(32),
    `${made}!`,
    'whsec_not base64',
  ])
    expect(() => readSecret(wrong)).toThrow('takes a webhook signing secret');
});
