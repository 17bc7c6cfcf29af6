import { Failure, usageFailure } from '../failure.ts';
import type { Screen } from './screen.ts';

/** Fails unless the user agrees. Without a terminal, it fails with the message `unasked`. */
export async function confirm(
  screen: Pick<Screen, 'isInteractive' | 'ask'>,
  question: string,
  unasked: string,
): Promise<void> {
  if (!screen.isInteractive) throw usageFailure(unasked);
  const answer = await screen.ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('failed', 'Nothing was done.');
}
