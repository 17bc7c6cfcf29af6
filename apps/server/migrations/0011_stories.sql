-- Matches of one account that belong to the same story (src/stories/). The id of a story is the position of its first match. The match
-- transaction writes all of this in commit order, after `take_turn`: so there is one writer at a time, and redelivered events change
-- nothing.

-- What the items of a story share, as 64-bit hashes, of which the account is a part: no text of an item is here. A key belongs to the story
-- that had it first, until the story is out of its window. `at` is the time of the item, not of the clock. Rows are not rewritten when a
-- story grows. The index has no account, because an index of numbers takes half of the time.
create table story_keys (
  key bigint primary key,
  story_id bigint not null,
  at timestamptz not null,
  account_id text not null
);
-- Rows arrive roughly in the order of time, so a tiny index finds the old ones.
create index story_keys_by_age on story_keys using brin (at);

-- Only stories with two matches or more have a row, and members: most matches are alone.
create table stories (
  id bigint primary key,
  account_id text not null,
  -- The newest time of its items.
  last_at timestamptz not null,
  -- The older story of which it is a part; that story is in no other.
  merged_into bigint
) with (fillfactor = 70);
create index stories_merged on stories (merged_into) where merged_into is not null;
create index stories_by_age on stories using brin (last_at);

create table story_members (
  position bigint primary key,
  -- As it was when the match was stored: perhaps one that has merged since.
  story_id bigint not null,
  account_id text not null,
  rule_id text not null,
  platform text not null,
  event_day date not null,
  created_at timestamptz not null,
  because text not null
);
create index story_members_by_story on story_members (story_id, position);
-- Rows arrive roughly in the order of days.
create index story_members_by_day on story_members using brin (event_day);
