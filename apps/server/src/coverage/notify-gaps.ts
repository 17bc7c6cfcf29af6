import type { Platform, SourceState } from '@earshot/contract';
import type { Bells } from '../engines/bells.ts';
import type { Database, Sql } from '../engines/database.ts';
import { shortGapSeconds, silentReasons } from '../ingest/coverage-intervals.sql.ts';
import { raiseNotices, resolveNotices } from '../notices/notice-log.sql.ts';
import { sourceState } from '../slots/receiving.sql.ts';
import { accountsOn } from '../slots/slot-holding.sql.ts';
import { needsPerson } from '../upstream/protocol.ts';
import { readReceipts } from './freshness-metrics.ts';

export interface NotifyGapsOptions {
  readonly database: Database;
  readonly bells: Pick<Bells, 'ring'>;
}

const disconnectedAfterSeconds = 60;
/** By then a short gap is usually repaired: a search waits 30 s for the platform's index. */
const repairedWithinMinutes = 10;
/** Another notice explains these states. */
const explained: ReadonlySet<SourceState> = new Set([...needsPerson, 'budget']);

/**
 * Notifies accounts while a source is disconnected, and of short gaps that were not repaired. A source counts as disconnected if
 * two checks find the same: after an outage of PostgreSQL, the first one may run before the source has proven its coverage.
 */
export function createGapNotifier({ database, bells }: NotifyGapsOptions): () => Promise<void> {
  let suspected: ReadonlyMap<string, number> = new Map();
  return async () => {
    const silent = (await readReceipts(database)).filter(
      ({ ageSeconds }) => ageSeconds > disconnectedAfterSeconds,
    );
    const confirmed = silent.filter(({ source, received }) => suspected.get(source) === received);
    suspected = new Map(silent.map(({ source, received }) => [source, received]));
    let changes = 0;
    for (const { source, received } of confirmed)
      changes += await database.transaction((sql) => raiseDisconnected(sql, source, received));
    changes += await resolveOthers(
      database,
      silent.map(({ source }) => source),
    );
    changes += await raiseShortGaps(database);
    if (changes > 0) bells.ring('notices');
  };
}

async function raiseDisconnected(sql: Sql, id: string, received: number): Promise<number> {
  const row = await sql.one<{ platform: Platform; state: SourceState }>(
    `select platform, ${sourceState} as state from sources where id = $1`,
    [id],
  );
  if (!row || explained.has(row.state)) return 0;
  const { platform, state } = row;
  return await raiseNotices(sql, await accountsOn(sql, id), {
    type: 'source.disconnected',
    subject: { kind: 'source', id, name: id.slice(platform.length + 1) },
    data: { platform, state, since: new Date(received * 1000).toISOString() },
  });
}

/** Resolves the notices of sources that receive again or have no rules. Returns the number of sources. */
async function resolveOthers(database: Database, silent: readonly string[]): Promise<number> {
  const rows = await database.many<{ id: string }>(
    `select distinct subject_id as id from notices
     where type = 'source.disconnected' and resolved_at is null and subject_id <> all($1) order by id`,
    [silent],
  );
  for (const { id } of rows)
    await database.transaction((sql) =>
      resolveNotices(sql, { types: ['source.disconnected'], subject: { kind: 'source', id } }),
    );
  return rows.length;
}

interface ShortGap {
  readonly id: number;
  readonly platform: Platform;
  readonly gap_from: Date;
  readonly from_at: Date;
  readonly reason: string;
  readonly accounts: readonly string[];
}

/** Raises the notices that `openCoverage` has withheld, for accounts with a rule whose items were not fetched. */
async function raiseShortGaps(database: Database): Promise<number> {
  const gaps = await database.many<ShortGap>(
    `select coverage.id, sources.platform, gap_from, from_at, gap_because as reason,
       array_agg(distinct holders.account_id) as accounts
     from sources join coverage on source_id = sources.id
       and from_at between now() - interval '1 hour' and now() - interval '${repairedWithinMinutes} minutes'
       and from_at < gap_from + interval '${shortGapSeconds} seconds'
     join slots on slots.source_id = sources.id
     join slot_holders holders on holders.slot_id = slots.id and not pending and holders.served_since < gap_from
     join rules on rules.id = holders.rule_id and rules.state = 'active'
     left join gap_repairs repairs on coverage_id = coverage.id and repairs.slot_id = slots.id
     where repair is distinct from 'repaired' and gap_because <> all($1) and repairs.state is distinct from 'done'
       and not exists (
         select 1 from notices where type = 'coverage.gap' and subject_kind = 'platform' and subject_id = sources.platform
           and key = coverage.id::text and notices.account_id = holders.account_id)
     group by coverage.id, sources.platform order by coverage.id`,
    [[...silentReasons]],
  );
  for (const { id, platform, gap_from, from_at, reason, accounts } of gaps)
    await database.transaction((sql) =>
      raiseNotices(sql, accounts, {
        type: 'coverage.gap',
        subject: { kind: 'platform', id: platform, name: platform },
        key: String(id),
        data: { platform, from: gap_from.toISOString(), to: from_at.toISOString(), reason },
      }),
    );
  return gaps.length;
}
