-- Whether matches are relevant to the intent of their rule, and what an account mutes (src/relevance/).

-- Labels by people and agents, and verdicts of the judge. A match has a row when it has one of them. Its position identifies it: retention
-- may have removed the match and kept its label.
create table match_relevance (
  position bigint primary key,
  account_id text not null,
  rule_id text not null references rules (id) on delete cascade,
  platform text not null,
  event_day date not null,
  label text check (label in ('relevant', 'not_relevant')),
  note text,
  labelled_at timestamptz,
  labelled_by text,
  -- What the judge says: this model, about this version of the intent.
  verdict text check (verdict in ('relevant', 'not_relevant', 'unsure', 'unjudged')),
  reason text,
  judged_by text,
  intent_version integer,
  judged_at timestamptz,
  -- What was judged: a copy of the item gets the same verdict without a call.
  judged_key text,
  -- Author and site of a labelled match, to suggest mutes.
  author text,
  domain text
);
create index match_relevance_by_rule on match_relevance (rule_id, position desc);
create index match_relevance_labels on match_relevance (account_id, position desc) where label is not null;
create index match_relevance_by_key on match_relevance (rule_id, judged_key) where judged_key is not null;
-- What retention removes with its day: a label stays.
create index match_relevance_by_day on match_relevance (event_day) where label is null;

-- What the judge cost. The amount includes reservations of calls that run, and of those whose process died.
create table judge_usage (
  account_id text not null,
  rule_id text not null,
  day date not null,
  calls integer not null default 0,
  usd double precision not null default 0,
  primary key (rule_id, day)
);
create index judge_usage_by_account on judge_usage (account_id, day);
create index judge_usage_by_day on judge_usage (day);

-- Applied when matches are read, so that a mute also hides earlier matches, and deleting it shows them again.
create table mutes (
  id text primary key,
  account_id text not null references accounts (id) on delete cascade,
  rule_id text references rules (id) on delete cascade,
  field text not null check (field in ('author', 'domain', 'phrase')),
  value text not null,
  created_at timestamptz not null default now(),
  created_by text,
  unique nulls not distinct (account_id, rule_id, field, value)
);
create index mutes_by_rule on mutes (rule_id);
