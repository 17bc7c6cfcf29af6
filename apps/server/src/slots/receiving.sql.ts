/** An open interval of the coverage ledger without a proof for this long belongs to a crashed process. */
export const provenForSeconds = 10;

/*
 * Everything that shows whether a source receives uses these fragments: rules, sources, notices and estimates. The ingest worker
 * writes `live_until` in the statements that write the coverage ledger. `state` only explains why a source does not receive: it
 * may be older than that, and a dead process leaves `live` behind.
 */

/** SQL: whether Earshot receives from the source now. */
export const isReceiving = 'sources.live_until > now()';

/** SQL: the state of the source as of now. */
export const sourceState = `case when ${isReceiving} then 'live' when sources.state = 'live' then 'stopped' else sources.state end`;

/**
 * SQL: until when the source received; null if never. An interval that a crash left open ends at the last byte that it recorded.
 * The gap of the coverage begins here.
 */
export const receivedUntil = `(select case when ended_because is null then coalesce(received_until, proven_until) else proven_until end
  from coverage where coverage.source_id = sources.id order by from_at desc, id desc limit 1)`;

/** SQL: when the source began to receive, or stopped. Other states in between do not change it. */
export const receivingSince = `case when not ${isReceiving} then coalesce(${receivedUntil}, sources.live_until)
  when sources.state = 'live' then sources.state_since
  else sources.live_until - interval '${provenForSeconds} seconds' end`;
