import { formatExactTime, formatTime } from './format.ts';

/** A time in the reader's locale, the exact one in its title. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatExactTime(at)}>
      {formatTime(at)}
    </time>
  );
}
