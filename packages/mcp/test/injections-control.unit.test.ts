import { expect, test, vi } from 'vitest';
import { answerMatches } from '../src/content/answer-matches.ts';
import { newNonce } from '../src/content/fence.ts';
import { aMatch } from './a-match.ts';
import { separate, unseenIn } from './injections/fence.ts';
import { injections } from './injections/index.ts';

/** Control: the same code without escaping. */
vi.mock('../src/content/visible.ts', () => ({ visible: (words: string) => words }));

type Form = 'lines' | 'full';

/** The families that the checks of injections.unit.test.ts detect if each answer has this nonce. */
function detected(form: Form, nonce: () => string, seen: string): Set<string> {
  const families = new Set<string>();
  for (const { family, text } of injections(seen)) {
    const matches = [aMatch(1, { text }), aMatch(2, { text, other: text, url: text })];
    const page = { matches, cursor: null, coverage: null };
    const answer = answerMatches({
      ...page,
      form,
      maxTokens: 1_000_000,
      cursorField: 'ack',
      nonce: nonce(),
    });
    try {
      separate(answer.text);
      if (unseenIn(answer.text) !== undefined) families.add(family);
    } catch {
      families.add(family);
    }
  }
  return families;
}

const forms: readonly Form[] = ['lines', 'full'];

test.each(forms)('control: without escaping, forged and hidden text is detected in %s', (form) => {
  const families = detected(form, newNonce, newNonce());
  expect([...families]).toEqual(
    expect.arrayContaining([
      'a fence with a guessed nonce',
      'a fence with a nonce seen before',
      'a fence in other letters',
      'a forged field below the text',
      'escapes of the terminal',
      'letters that run the other way',
      'invisible letters',
      'more than fits',
    ]),
  );
});

test.each(forms)('control: a constant nonce is detected in %s', (form) => {
  const constant = newNonce();
  expect([...detected(form, () => constant, constant)]).toContain('text in another writing');
  expect([...detected(form, newNonce, constant)]).not.toContain('text in another writing');
});
