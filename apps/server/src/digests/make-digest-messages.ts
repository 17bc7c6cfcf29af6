import type { Database, Sql } from '../engines/database.ts';
import type { Checkpoint } from '../runtime/checkpoint.ts';
import { newId } from '../runtime/ids.ts';
import { countMatches } from './counts.sql.ts';
import { type DigestRow, scheduleOf } from './digests.sql.ts';
import { nextTimeMs } from './schedule.ts';

export interface MakeDigestMessagesOptions {
  readonly database: Database;
  readonly checkpoint: Checkpoint;
}

interface DueRow
  extends Pick<
    DigestRow,
    'id' | 'rule_ids' | 'platform' | 'cron' | 'time_zone' | 'window_seconds' | 'created_at'
  > {
  readonly account_id: string;
  readonly min_matches: number;
  readonly empty: 'skip' | 'send';
  readonly position: number;
  readonly now: Date;
  readonly log_end: number;
  readonly rules_are_gone: boolean;
}

/** Limits a step, so that a node with many digests also checks its signal. */
const digestsPerStep = 100;

const fromDue = `from digests
  where next_at <= now()
    and not exists (select 1 from digest_messages where digest_id = digests.id)
    and account_id not in (select accounts.id from accounts where suspended_at is not null)`;

/** Creates the digest messages that are due. Any number of nodes may do this. Returns true if there may be more. */
export async function makeDigestMessages(options: MakeDigestMessagesOptions): Promise<boolean> {
  // Checks first: usually none is due, and a transaction takes three statements.
  const due = await options.database.prepared(`select 1 ${fromDue} limit 1`, []);
  if (due.length === 0) return false;
  for (let made = 0; made < digestsPerStep; made++) {
    const done = await options.database.transaction((sql) => makeDigestMessage(sql));
    if (done === 'nothing') return false;
    if (done === 'made') options.checkpoint('digest.made');
  }
  return true;
}

/**
 * Creates one digest message under the lock of its digest, with the new position. The end of the log is read first,
 * and positions become visible in order, so no match can appear in the range later. A message covers everything since
 * the previous one, even if several times have passed. While one waits to be sent, no other is made.
 *
 * If the position moved after sending, a crash in between would send the same matches under another id. The row has the
 * range and not the content, so matches that are removed before sending are not sent.
 */
async function makeDigestMessage(sql: Sql): Promise<'made' | 'skipped' | 'nothing'> {
  const due = await sql.one<DueRow>(
    `select digests.id, account_id, rule_ids, platform, cron, time_zone, window_seconds, created_at, min_matches, empty,
       position, now() as now, (select last_position from match_log) as log_end,
       rule_ids is not null and not exists (
         select 1 from rules where rules.id = any(rule_ids) and state not in ('creating', 'deleted')) as rules_are_gone
     ${fromDue}
     order by next_at limit 1 for update of digests skip locked`,
  );
  if (!due) return 'nothing';
  const decision = await decide(sql, due);
  const nextAt = new Date(nextTimeMs(scheduleOf(due), due.now.getTime()));
  await sql.run('update digests set next_at = $2, problem = coalesce($3, problem) where id = $1', [
    due.id,
    nextAt,
    decision.problem,
  ]);
  if (!decision.isMade) return 'skipped';
  await insertDigestMessage(sql, due);
  return 'made';
}

/** Whether a digest message is made, or what the owner has to know instead. */
interface Decision {
  readonly isMade: boolean;
  readonly problem: string | null;
}

const make: Decision = { isMade: true, problem: null };
const wait: Decision = { isMade: false, problem: null };

async function decide(sql: Sql, due: DueRow): Promise<Decision> {
  if (due.rules_are_gone)
    return {
      isMade: false,
      problem: 'All rules of this digest were deleted. Change its rules, or delete the digest.',
    };
  const range = {
    accountId: due.account_id,
    ruleIds: due.rule_ids,
    platform: due.platform,
    positionFrom: due.position,
    positionTo: due.log_end,
  };
  const counts = await countMatches(sql, range, due.min_matches);
  const waiting = counts.reduce((sum, { matches }) => sum + matches, 0);
  const isWanted = waiting >= due.min_matches || (waiting === 0 && due.empty === 'send');
  return isWanted ? make : wait;
}

async function insertDigestMessage(sql: Sql, due: DueRow): Promise<void> {
  await sql.run(
    `with before as (
       select position, last_number, least(covered_until, $3) as covered_until from digests where id = $1
     ), moved as (
       update digests set position = $2, covered_until = $3, last_number = last_number + 1 where id = $1
     )
     insert into digest_messages (digest_id, account_id, message_id, number, position_from, position_to, from_at, to_at, made_at,
       next_attempt_at)
     select $1, $4, $5, last_number + 1, position, $2, covered_until, $3, $3, $3 from before`,
    [due.id, due.log_end, due.now, due.account_id, newId('msg')],
  );
}
