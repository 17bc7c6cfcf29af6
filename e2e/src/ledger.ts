import type { World } from './world.ts';

export interface LedgerInterval {
  readonly fromMs: number;
  readonly toMs: number;
  readonly endedBecause: string | null;
}

/** The coverage intervals of a source in the ledger. */
export async function readLedger(world: World, sourceId: string): Promise<LedgerInterval[]> {
  const { rows } = await askDatabase(
    world,
    `select extract(epoch from from_at)::float8 * 1000 as "fromMs",
       extract(epoch from proven_until)::float8 * 1000 as "toMs", ended_because as "endedBecause"
     from coverage where source_id = $1 order by from_at, id`,
    [sourceId],
  );
  return rows as LedgerInterval[];
}

/** The times between two intervals, in ms, each with the reason that the first one ended. */
export function gapsOf(ledger: readonly LedgerInterval[]): Array<{ ms: number; because: string }> {
  return ledger.slice(1).map(({ fromMs }, index) => {
    const before = ledger[index];
    return { ms: fromMs - (before?.toMs ?? fromMs), because: before?.endedBecause ?? 'process_died' };
  });
}

export function askDatabase(world: World, sql: string, values: readonly unknown[] = []) {
  return world.database.query(sql, [...values]);
}

/** When a post was created: the upper bits of its id. */
export function postedAtMs(postId: string): number {
  return Number((BigInt(postId) >> 22n) + 1_288_834_974_657n);
}
