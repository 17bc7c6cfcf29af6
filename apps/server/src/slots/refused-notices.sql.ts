import type { Platform } from '@earshot/contract';
import type { Sql } from '../engines/database.ts';
import { raiseNotices, resolveNotices } from '../notices/notice-log.sql.ts';

/**
 * Notifies the owners of active rules that the upstream no longer accepts these slots. Each notice names one rule only. A rule that still
 * waits for its first registration gets no notice: its request fails instead.
 */
export async function notifyRefused(sql: Sql, slotIds: readonly string[]): Promise<void> {
  const rules = await sql.many<{
    id: string;
    name: string;
    account_id: string;
    platform: Platform;
    problem: string;
  }>(
    `select rules.id, rules.name, rules.account_id, slots.platform, coalesce(slots.problem, '') as problem
     from slots join slot_holders holders on holders.slot_id = slots.id join rules on rules.id = holders.rule_id
     where slots.id = any($1) and slots.state = 'failed' and slots.registered_at is not null
       and holders.served_since is not null and not holders.pending and holders.release_at is null
       and rules.state = 'active'
     order by rules.account_id collate "C", rules.id`,
    [slotIds],
  );
  for (const { id, name, account_id, platform, problem } of rules)
    await raiseNotices(sql, [account_id], {
      type: 'rule.refused',
      subject: { kind: 'rule', id, name },
      key: platform,
      data: { platform, message: problem },
    });
}

/** Resolves these notices: the upstream has the slots again. */
export async function resolveRefused(sql: Sql, slotIds: readonly string[]): Promise<void> {
  const rules = await sql.many<{ id: string; platform: Platform }>(
    `select holders.rule_id as id, holders.platform from slot_holders holders
     join notices on notices.subject_id = holders.rule_id and notices.key = holders.platform
       and notices.type = 'rule.refused' and notices.subject_kind = 'rule' and notices.resolved_at is null
     where holders.slot_id = any($1) and not holders.pending
     order by holders.account_id collate "C", holders.rule_id`,
    [slotIds],
  );
  for (const { id, platform } of rules)
    await resolveNotices(sql, { types: ['rule.refused'], subject: { kind: 'rule', id }, key: platform });
}
