import type { Database, Sql } from '../engines/database.ts';
import { assertLease, type Lease } from '../engines/leases.ts';
import { callsMade, recordCall } from '../slots/upstream-calls.ts';
import type { ConnectorStore } from './connector-store.ts';

const detailLengthMax = 500;

export function createConnectorStore(database: Database): ConnectorStore {
  const fenced = (lease: Lease, work: (sql: Sql) => Promise<unknown>) =>
    database.transaction(async (sql) => {
      await assertLease(sql, lease);
      await work(sql);
    });
  return {
    async connectsMade(sourceId, limit) {
      const calls = await callsMade(database, sourceId);
      return calls.filter(({ bucket }) => bucket === limit.bucket).map(({ agoMs }) => agoMs);
    },
    recordConnect: (lease, sourceId, limit) => fenced(lease, (sql) => recordCall(sql, sourceId, limit)),
    assertHeld: (lease) => fenced(lease, () => Promise.resolve()),
    recordState: (lease, sourceId, { state, detail, nextAttemptInMs }) =>
      fenced(lease, (sql) =>
        sql.run(
          `update sources set state = $2, state_detail = $3,
             state_since = case when state = $2 then state_since else now() end,
             next_attempt_at = now() + $4 * interval '1 ms', updated_at = now()
           where id = $1`,
          [sourceId, state, detail?.slice(0, detailLengthMax) ?? null, nextAttemptInMs],
        ),
      ),
    explainGap: (lease, sourceId, reason) =>
      fenced(lease, (sql) =>
        sql.run(
          `update coverage set ended_because = $2
           where id = (select max(id) from coverage where source_id = $1)`,
          [sourceId, reason],
        ),
      ),
    async usualPerMinute(sourceId) {
      const row = await database.one<{ usual: number | null }>(
        'select usual_per_minute as usual from sources where id = $1',
        [sourceId],
      );
      return row?.usual ?? null;
    },
    recordUsual: (lease, sourceId, perMinute) =>
      fenced(lease, (sql) =>
        sql.run('update sources set usual_per_minute = $2 where id = $1', [sourceId, perMinute]),
      ),
  };
}
