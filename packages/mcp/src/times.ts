import { parseTime, type TimeDirection, timeGrammar } from '@earshot/contract';
import { z } from 'zod';
import { InvalidArguments } from './tool.ts';

export const time = z.string().meta({ description: '2h (ago), 2026-11-15 or RFC 3339' });

/** Converts the named arguments to timestamps for the API. Throws if one is not a time. */
export function readTimes<Args extends object>(
  args: Args,
  names: readonly (keyof Args & string)[],
  direction: TimeDirection,
): Args {
  const now = new Date();
  const read: Record<string, string> = {};
  for (const name of names) {
    const given = args[name];
    if (typeof given !== 'string') continue;
    const parsed = parseTime(given, direction, now);
    if (parsed === null) {
      const message = `Must be a time such as ${timeGrammar}.`;
      throw new InvalidArguments([{ field: name, code: 'invalid_value', message }]);
    }
    read[name] = parsed;
  }
  return { ...args, ...read };
}
