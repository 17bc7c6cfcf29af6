import type { StoredMatch } from '../../apps/server/src/readers/match-reader.sql.ts';

export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type MatchRow = Omit<StoredMatch, 'payload'> & { readonly payload: string };

export const key: Statement = {
  name: 'key',
  text: `select api_keys.id, account_id from api_keys join accounts on accounts.id = account_id
    where hash = $1 and revoked_at is null and (expires_at is null or expires_at > now()) and suspended_at is null`,
};

/**
 * The newest matches of each platform are neighbours in the index, and the order makes the planner use it. An account sees
 * the posts of its matches.
 */
const newestOf = (platform: string) => `(select * from matches
  where account_id = $1 and platform >= '${platform}' and platform <= '${platform}'
    and rule_id <> all(array(select id from rules where account_id = $1 and state in ('creating', 'deleted')))
  order by platform desc, position desc limit $2)`;

export const page: Statement = {
  name: 'page',
  text: `with page as materialized (
      select * from (${newestOf('x')} union all ${newestOf('firehose')}) as newest order by position desc limit $2
    )
    select page.position, page.rule_id as "ruleId", page.rule_version as "ruleVersion", page.created_at as "createdAt",
      page.platform, page.event_key as "eventKey", page.via, posts.platform_post_id as "platformPostId", posts.payload,
      coalesce(versions.translated_value, '') as "ruleValue"
    from page
    join posts_of((select array_agg(rule_id) from page), (select array_agg(event_key) from page),
        (select array_agg(platform) from page), (select array_agg(event_day) from page)) as posts
      on posts.rule_id = page.rule_id and posts.event_key = page.event_key and posts.event_day = page.event_day
    left join rule_versions versions on versions.rule_id = page.rule_id
      and versions.version = page.rule_version and versions.platform = page.platform
    order by page.position desc`,
};

export const budgets: Statement = {
  name: 'budgets',
  text: `select spender.budget as key, accounts.budget as account
    from accounts left join api_keys creator on creator.id = $2
    left join api_keys spender on spender.id = creator.spends_from where accounts.id = $1`,
};

export const premium: Statement = {
  name: 'premium',
  text: `select premium_rules_reached('{x}', $1, $2) as used`,
};

export const insertRule: Statement = {
  name: 'rule',
  text: `insert into rules (id, account_id, created_by, name, intent, state) values ($1, $2, $3, $4, $5, 'active')`,
};

/** The oldest other rule with this value on this platform alone: it holds the slot, or is paused. */
const isEquivalent = `state not in ('creating', 'deleted') and rules.id <> $1 and (
  select array_agg(platform || translated_value) from rule_versions
  where rule_id = rules.id and rule_versions.version = rules.version) = array['x' || $4::text]`;

export const equivalent: Statement = {
  name: 'equivalent',
  text: `(select rules.id from slot_holders join rules on rules.id = rule_id
      where slot_holders.account_id = $2 and platform = 'x'
        and slot_id = (select id from slots where platform = 'x' and value_hash = $3) and ${isEquivalent}
      order by rule_id limit 1)
    union all
    (select id from rules where account_id = $2 and state = 'paused' and ${isEquivalent} order by id limit 1)
    order by id limit 1`,
};

export const takeSlot: Statement = {
  name: 'slot',
  text: `with slot as (
      select * from slots where platform = 'x' and value_hash = $3 and state = 'registered' for update
    ), holder as (
      insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, pending, served_since)
      select id, $1, $2, 'x', 1, false, now() from slot
    ), version as (
      insert into rule_versions (rule_id, version, platform, value, translated_value, platform_rule_id, slot_id, options)
      select $1, 1, 'x', $4, $5, $6, id, '{}' from slot
    )
    select $6 as platform_rule_id, live_until > now() as live from slot join sources on sources.id = source_id`,
};

export const audit: Statement = {
  name: 'audit',
  text: `insert into audit (id, account_id, actor, operation, target_id, after, request_id)
    values ($1, $2, $3, 'CreateRule', $4, $5, $6)`,
};
