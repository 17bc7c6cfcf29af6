import type { Platform } from '@earshot/contract';
import type { MatchReader } from '../../readers/match-reader.ts';
import type { Database } from './database.ts';

interface MatchRow {
  position: number;
  rule_id: string;
  rule_version: number;
  created_at: Date;
  platform: Platform;
  platform_post_id: string;
  payload: string;
}

/**
 * One statement per shape of the question, so that each has the plan its index allows. Deleted rules are hidden
 * by the join; a creation that is not confirmed yet shows nothing either.
 */
export function createMatchReader(database: Database): MatchReader {
  return {
    async read({ accountId, ruleId, platform, since, until, order, from, limit }) {
      const values: unknown[] = [accountId, limit];
      const where: string[] = ['matches.account_id = $1'];
      const add = (condition: (placeholder: string) => string, value: unknown) => {
        if (value === null) return;
        values.push(value);
        where.push(condition(`$${values.length}`));
      };
      add((at) => `matches.rule_id = ${at}`, ruleId);
      add((at) => `matches.platform = ${at}`, platform);
      add((at) => `matches.created_at >= ${at}`, since);
      add((at) => `matches.created_at < ${at}`, until);
      add((at) => `matches.position ${order === 'oldest' ? '>' : '<'} ${at}`, from);
      const rows = await database.many<MatchRow>(
        `select matches.position, matches.rule_id, matches.rule_version, matches.created_at, matches.platform,
           posts.platform_post_id, posts.payload
         from matches
         join posts on posts.event_key = matches.event_key and posts.platform = matches.platform
           and posts.event_day = matches.event_day
         join rules on rules.id = matches.rule_id and rules.state not in ('creating', 'deleted')
         where ${where.join(' and ')}
         order by matches.position ${order === 'oldest' ? 'asc' : 'desc'}
         limit $2`,
        values,
      );
      return rows.map((row) => ({
        position: row.position,
        ruleId: row.rule_id,
        ruleVersion: row.rule_version,
        createdAt: row.created_at,
        platform: row.platform,
        platformPostId: row.platform_post_id,
        payload: JSON.parse(row.payload),
      }));
    },
  };
}
