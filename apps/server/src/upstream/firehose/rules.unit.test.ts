import { describe, expect, test } from 'vitest';
import { type Answer, startAnsweringServer } from '../../../test/answering-server.ts';
import { createUpstreamClient } from '../client.ts';
import type { UpstreamRules } from '../upstream-rules.ts';
import { createFirehoseRules } from './rules.ts';

const never = { signal: new AbortController().signal, permit: () => Promise.resolve() };
const rule = { value: 'cat', tag: 'tag' };

async function ask<Result>(answers: readonly Answer[], question: (rules: UpstreamRules) => Promise<Result>) {
  await using server = await startAnsweringServer(answers);
  await using client = createUpstreamClient({ baseUrl: server.url, token: 't', name: 'Firehose' });
  return { result: await question(createFirehoseRules(client)), asked: server.asked };
}

test('rules are added one by one, with their outcomes in the same order', async () => {
  const { result, asked } = await ask(
    [
      { status: 201, body: { data: { id: 'a' } } },
      { status: 422, body: { message: 'The value is not valid.' } },
      { status: 200, body: { data: { id: 'c' } } },
    ],
    (rules) => rules.add([rule, rule, rule], never),
  );
  expect(result).toEqual([
    { kind: 'added', id: 'a' },
    { kind: 'refused', words: 'The value is not valid.' },
    { kind: 'added', id: 'c' },
  ]);
  expect(asked).toEqual([rule, rule, rule]);
});

describe('a 422 that mentions a limit', () => {
  const limit = { status: 422, body: { message: 'You have reached the limit of 25 rules.' } };

  test('of a valid rule is the rule limit, and ends the additions', async () => {
    const valid = { status: 200, body: { data: { valid: true, diagnostics: [] } } };
    const { result, asked } = await ask([limit, valid], (rules) => rules.add([rule, rule, rule], never));
    const full = { kind: 'full', words: limit.body.message };
    expect(result).toEqual([full, full, full]);
    expect(asked).toEqual([rule, { value: rule.value }]);
  });

  test.each([{ data: { valid: true } }, { valid: true }])(
    'is recognised by an answer like %j',
    async (verdict) => {
      const errors = { value: ['You have reached the number of rules of your plan.'] };
      const body = { message: 'The given data was invalid.', errors };
      const { result } = await ask(
        [
          { status: 422, body },
          { status: 200, body: verdict },
        ],
        (rules) => rules.add([rule], never),
      );
      expect(result).toEqual([
        {
          kind: 'full',
          words: 'The given data was invalid. You have reached the number of rules of your plan.',
        },
      ]);
    },
  );

  test.each([
    { status: 200, body: { data: { valid: false } } },
    { status: 422, body: { message: 'The value is not valid.' } },
    { status: 404, body: {} },
  ])('of a rule that %j is a refusal of the rule', async (verdict) => {
    const { result } = await ask([limit, verdict], (rules) => rules.add([rule], never));
    expect(result).toEqual([{ kind: 'refused', words: limit.body.message }]);
  });
});

/** Error shapes are undocumented: every place where the text was seen (firehose.md §8). */
test.each([
  [{ error: { message: 'one' }, message: 'two' }, 'one'],
  [{ message: 'two', errors: { value: ['three'] } }, 'two three'],
  [{ message: 'three', errors: { value: ['three'] } }, 'three'],
  [{ errors: { value: ['three'], tag: ['four'] } }, 'three four'],
  [{}, 'no reason given'],
  [[], 'no reason given'],
])('the text of a refusal is found in %j', async (body, words) => {
  const { result } = await ask([{ status: 422, body }], (rules) => rules.add([rule], never));
  expect(result).toEqual([{ kind: 'refused', words }]);
});

test.each([
  [201, {}, null],
  [401, {}, 60_000],
  [402, {}, 60_000],
  [429, {}, null],
  [502, {}, null],
])('a %i with %j for an addition leaves the outcome open', async (status, body, retryAfterMs) => {
  await expect(ask([{ status, body }], (rules) => rules.add([rule], never))).rejects.toMatchObject({
    name: 'UpstreamUnavailable',
    retryAfterMs,
  });
});

test('a refusal of the token keeps the text of Firehose', async () => {
  const answer = { status: 402, body: { error: { message: 'The credit is used up.' } } };
  await expect(ask([answer], (rules) => rules.add([rule], never))).rejects.toThrow(
    'Firehose answered 402 to a rule call: The credit is used up.',
  );
});

test('a list with fewer rules than its count is rejected', async () => {
  const one = { id: 'a', value: 'cat', tag: null };
  const list = (count: number) => ({ status: 200, body: { data: [one], meta: { count } } });
  expect((await ask([list(1)], (rules) => rules.list(never))).result).toEqual([one]);
  await expect(ask([list(57)], (rules) => rules.list(never))).rejects.toMatchObject({
    name: 'UpstreamUnavailable',
    message: 'Firehose listed 1 of its 57 rules',
  });
});

test.each([204, 200, 404])('a rule is removed when the answer is %i', async (status) => {
  const { asked } = await ask([{ status, text: '' }], (rules) => rules.remove(['a/b'], never));
  expect(asked).toEqual(['/v1/rules/a%2Fb']);
});

test.each(['<html>', '{}', '{"data":[{"id":1}]}'])('the list %s is rejected', async (text) => {
  await expect(ask([{ status: 200, text }], (rules) => rules.list(never))).rejects.toMatchObject({
    name: 'UpstreamUnavailable',
  });
});
