-- compatible with 0008_incarnations.sql

-- Formats of messages (src/webhooks/formats). A node of the release before sends the standard format to every webhook.
alter table webhooks
  add column format text not null default 'standard'
    check (format in ('standard', 'cloudevents', 'slack', 'discord', 'teams')),
  -- A chat gets at most one message with matches in this time; null for programs, which get matches at once.
  add column window_seconds integer check (window_seconds between 30 and 86400),
  -- When the last message with matches was delivered. Only kept where there is a window.
  add column message_at timestamptz,
  add constraint webhooks_window check ((format in ('slack', 'discord', 'teams')) = (window_seconds is not null));
