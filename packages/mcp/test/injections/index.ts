export { unseenIn } from './fence.ts';
export { type ReadAnswer, readAnswer } from './read-answer.ts';

import { fences } from './fences.ts';
import { orders } from './orders.ts';
import { shapes } from './shapes.ts';

export interface Injection {
  readonly family: string;
  readonly text: string;
}

/** Written for this test. `seen` is a nonce that an attacker may have read in an earlier answer. */
export function injections(seen: string): Injection[] {
  return Object.entries({ ...fences, ...orders, ...shapes }).flatMap(([family, texts]) =>
    texts.map((text) => ({ family, text: text.replaceAll('{seen}', seen) })),
  );
}

/** A harmless text with the same number of characters and lines. */
export function harmless(text: string): string {
  return text.replace(/[^\n]/gu, 'a');
}
