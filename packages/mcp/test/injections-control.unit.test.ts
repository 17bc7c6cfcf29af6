import { expect, test, vi } from 'vitest';
import { answerMatches } from '../src/content/answer-matches.ts';
import { newNonce } from '../src/content/nonce.ts';
import { aMatch } from './a-match.ts';
import { separate, unseenIn } from './injections/fence.ts';
import { injections } from './injections/index.ts';

/** Control: the code as it is, with what makes words visible switched off. */
vi.mock('../src/content/visible.ts', () => ({ visible: (words: string) => words }));

type Form = 'lines' | 'full';

/** Which families are noticed by the checks of injections.unit.test.ts, when each answer bears this nonce. */
function noticed(form: Form, nonce: () => string, seen: string): Set<string> {
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

test.each(forms)(
  'control: without making words visible, what is forged or unseen is noticed in %s',
  (form) => {
    const families = noticed(form, newNonce, newNonce());
    expect([...families]).toEqual(
      expect.arrayContaining([
        'a fence with a guessed nonce',
        'a fence with a nonce seen before',
        'a fence in other letters',
        'a field of its own beneath the text',
        'escapes of the terminal',
        'letters that run the other way',
        'letters that nobody sees',
        'more than fits',
      ]),
    );
  },
);

test.each(forms)('control: a nonce that stays the same is noticed in %s', (form) => {
  const constant = newNonce();
  expect([...noticed(form, () => constant, constant)]).toContain('text in another writing');
  expect([...noticed(form, newNonce, constant)]).not.toContain('text in another writing');
});
