import { Failure } from '../runtime/failure.ts';

/** Exports that one account, and one node, serves at the same time. Each holds a few MiB in memory. */
const perAccountMax = 2;
const perNodeMax = 16;

/** Counts one more open export of the account on this node, until it is disposed. */
export type CountExport = (accountId: string) => Disposable;

export function createExportLimit(contact: string): CountExport {
  const open = new Map<string, number>();
  let total = 0;
  return (accountId) => {
    const used = open.get(accountId) ?? 0;
    const [limit, reached] = used >= perAccountMax ? [perAccountMax, used] : [perNodeMax, total];
    if (reached >= limit) {
      throw new Failure(
        'resource_exhausted',
        `${reached} exports are running, which is the maximum. Wait for one to end.`,
        {
          details: { reason: 'concurrency', limit, used: reached, contact },
          retryAfterSeconds: 2,
        },
      );
    }
    open.set(accountId, used + 1);
    total += 1;
    return {
      [Symbol.dispose]() {
        const left = (open.get(accountId) ?? 1) - 1;
        if (left === 0) open.delete(accountId);
        else open.set(accountId, left);
        total -= 1;
      },
    };
  };
}
