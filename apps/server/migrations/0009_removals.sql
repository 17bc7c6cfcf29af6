-- compatible with 0008_incarnations.sql

-- Items that are taken back, by their platform or by the operator (src/removals/remove-items.ts).

-- What must not be stored again, whoever brings it: a replay of the event log, a repair, the platform. Every match transaction
-- asks it before it stores anything, so whoever adds a row locks the table first (exclusive mode, which a backup is not in the way
-- of): what was stored without knowing the row is committed then, and visible.
create table tombstones (
  platform text not null,
  -- An item by its id or its URL; an author by its id, or by `@` and its handle in lower case.
  kind text not null check (kind in ('item', 'author')),
  value text not null,
  reason text not null,
  -- An author is free to publish again: only what was published until then is meant.
  at timestamptz not null default now(),
  primary key (platform, kind, value)
);

-- One row for each match that was removed, at a position of its own in the match log. It goes with the rule, or when it is as
-- old as retention lets matches become.
create table removals (
  position bigint primary key,
  match_position bigint not null,
  account_id text not null,
  rule_id text not null references rules (id) on delete cascade,
  platform text not null,
  reason text not null,
  created_at timestamptz not null
);
create index removals_by_account on removals (account_id, position);
create index removals_by_rule on removals (rule_id, position);
create index removals_by_match on removals (match_position);
create index removals_by_age on removals (created_at);

-- Stores the batch of a webhook that is leased; false when it is not, or when one of its matches was removed since it was read.
-- A function, because each of its statements sees what was committed before it: who removes matches locks the webhooks first.
create function begin_webhook_batch(webhook text, by_lease text, in_epoch integer, new_message text, positions bigint[],
  new_body text)
returns boolean language plpgsql volatile as $$
begin
  perform 1 from webhooks where id = webhook and lease = by_lease and epoch = in_epoch for share;
  if not found or exists (select 1 from removals where match_position = any(positions)) then return false; end if;
  insert into webhook_batches (webhook_id, message_id, first_position, last_position, match_count, body)
  values (webhook, new_message, positions[1], positions[cardinality(positions)], cardinality(positions), new_body)
  on conflict do nothing;
  return found;
end $$;

-- Who may do what, as in 0005_roles.sql. The right to change tombstones is the right to lock them; nobody may lift one but the owner.
alter table removals enable row level security;
create policy own_rows on removals to earshot_account using (account_id = current_setting('earshot.account'));
create policy all_rows on removals to earshot_runtime using (true);
grant select on removals to earshot_account;
grant select, insert on removals to earshot_runtime;
grant select, insert, update on tombstones to earshot_runtime;
revoke all on function begin_webhook_batch from public;
grant execute on function begin_webhook_batch to earshot_runtime;
