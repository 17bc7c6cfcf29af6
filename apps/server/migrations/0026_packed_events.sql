-- compatible with 0008_incarnations.sql

-- Whether events share messages of the event log (src/event-log/event-message.ts), which earlier versions cannot read: at once where no
-- node has listened yet, elsewhere when the operator says that all nodes can (earshot admin pack-events).
alter table installation add column packs_events boolean not null default false;
update installation set packs_events = not exists (select 1 from sources);
