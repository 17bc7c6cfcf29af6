-- Forward only. A later change is a new file; this one never changes again.

-- Finds an account's rules on one slot without reading everybody's: a popular slot has thousands of holders. Counting
-- an account's premium rules needs nothing else, so it reads the index alone.
drop index slot_holders_by_account;
create index slot_holders_by_account on slot_holders (account_id, platform, slot_id, rule_id);
