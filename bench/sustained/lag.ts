import { percentile } from '../pipeline/latency.ts';
import type { Listed } from './follower.ts';

export const lagMsMax = 1_000;
/** For so long no match may be late again before the lag counts as small. */
const calmMs = 1_000;

/** How late matches are: in each row of the table, and after PostgreSQL was away. */
export function createLag(nowMs: () => number) {
  let row: Listed[] = [];
  let backAt: number | null = null;
  let lateAt = 0;
  let recoveredAt: number | null = null;
  return {
    listed(one: Listed): void {
      row.push(one);
      const now = nowMs();
      if (one.listedAfterMs >= lagMsMax) lateAt = now;
      else if (backAt !== null && now - lateAt >= calmMs) recoveredAt ??= lateAt;
    },
    postgresIsBack(): void {
      backAt = lateAt = nowMs();
    },
    /** From the moment that PostgreSQL takes connections to the last match that came late. Null before there is one. */
    recoveryMs: () => (recoveredAt === null || backAt === null ? null : recoveredAt - backAt),
    /** Of the matches since the last call: how long until they were stored, and until they were listed. */
    describeRow(): string {
      const [stored, listed] = [row.map((one) => one.storedAfterMs), row.map((one) => one.listedAfterMs)].map(
        (values) => values.toSorted((a, b) => a - b),
      );
      row = [];
      const text = (values: readonly number[] = []) =>
        values.length === 0 ? '–' : [0.5, 0.99, 1].map((share) => percentile(values, share)).join('/');
      return `${text(stored)} ${text(listed)}`;
    },
  };
}
