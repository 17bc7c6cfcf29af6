-- compatible with 0008_incarnations.sql

-- The addresses for which an issue is in `digest_mails` already. An issue counts once per address, however often it is tried.
alter table digest_issues add column counted_emails text[] not null default '{}';
