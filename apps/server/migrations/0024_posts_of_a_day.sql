-- compatible with 0008_incarnations.sql

-- A day's posts are in one partition. The statement of one day finds it once; over all days, every look-up chooses again
-- among all partitions (measured: 4.8 ms against 1.2 ms for the posts of 50 matches). The plan is the same for all days, so it
-- is made once per connection.
create or replace function posts_of(rule_ids text[], event_keys text[], platforms text[], event_days date[])
returns table (rule_id text, event_key text, event_day date, platform_post_id text, payload text)
language plpgsql stable security definer
set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  day date;
begin
  for day in select distinct unnest(event_days) loop
    -- The inner limits make it one index look-up per match: a plain join might read all posts.
    return query
      select given.rule_id, given.event_key, day, found.platform_post_id, found.payload
      from unnest(rule_ids, event_keys, platforms, event_days) as given (rule_id, event_key, platform, event_day)
      join lateral (
        select 1 from matches where matches.rule_id = given.rule_id and matches.event_key = given.event_key
          and matches.event_day = day and matches.account_id = current_setting('earshot.account') limit 1
      ) as own on true
      join lateral (
        select posts.platform_post_id, posts.payload from posts where posts.event_key = given.event_key
          and posts.platform = given.platform and posts.event_day = day limit 1
      ) as found on true
      where given.event_day = day;
  end loop;
end $$;
