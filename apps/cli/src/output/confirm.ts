import { Failure, usageFailure } from '../failure.ts';
import type { Screen } from './screen.ts';

/** Goes on, or fails; `unasked` are the words where nobody can be asked. */
export async function confirm(
  screen: Pick<Screen, 'isInteractive' | 'ask'>,
  question: string,
  unasked: string,
): Promise<void> {
  if (!screen.isInteractive) throw usageFailure(unasked);
  const answer = await screen.ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('failed', 'Nothing was done.');
}
