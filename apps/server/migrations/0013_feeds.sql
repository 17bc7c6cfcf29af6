-- Feeds for feed readers (src/feeds/). The URL of a feed is a credential.

create table feeds (
  id text primary key,
  account_id text not null references accounts (id) on delete cascade,
  name text not null,
  -- Null: every rule. As of a webhook: an id stays when its rule is deleted; it then matches nothing.
  rule_ids text[],
  platform text,
  relevance text not null default 'all' check (relevance in ('all', 'not_irrelevant', 'relevant')),
  query text,
  -- SHA-256 of the random token in the URL.
  token_hash bytea not null unique,
  created_at timestamptz not null default now(),
  -- When the key that created it expires.
  expires_at timestamptz,
  -- What the content depends on, when the feed was last read, and since when: a whole second, and a different one for each version.
  version text not null default '',
  modified_at timestamptz not null default date_trunc('second', now()),
  last_read_at timestamptz,
  unique (account_id, name)
);

-- The newest labels and verdicts of an account.
create index match_relevance_by_account on match_relevance (account_id, position desc);
