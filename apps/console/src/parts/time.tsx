import { formatExactTime, formatTime } from './format.ts';

/** A short time in the locale of the browser, with the exact time as its tooltip. */
export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={formatExactTime(at)}>
      {formatTime(at)}
    </time>
  );
}
