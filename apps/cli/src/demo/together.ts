import { MissingProgram } from '@earshot/engines';

/**
 * Waits for all parts even if one fails, because a part that is still starting could not be stopped. The error names all missing
 * programs at once.
 */
export async function together<Parts extends Promise<unknown>[]>(
  ...parts: Parts
): Promise<{ [Index in keyof Parts]: Awaited<Parts[Index]> }> {
  const outcomes = await Promise.allSettled(parts);
  const missing = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' && outcome.reason instanceof MissingProgram ? [outcome.reason.message] : [],
  );
  if (missing.length > 0)
    throw new Error(
      `${missing.join('\n\n')}\n\nOr use Docker, which needs nothing else: docker compose -f compose.demo.yaml up`,
    );
  return Promise.all(parts);
}
