-- compatible with 0008_incarnations.sql

-- The secret of cursors is rotated (src/engines/installation.ts). All nodes accept both; they sign with the new one only when
-- every node has had the time to learn of it.
alter table installation
  add column previous_cursor_secret bytea,
  -- Since when the new one signs; null when it was never rotated.
  add column cursor_secret_since timestamptz;
