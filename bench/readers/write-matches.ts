import { connect } from '@nats-io/transport-node';
import type pg from 'pg';

const batchMs = 50;
const sentence = 'The turbine hall was quiet when the first engineers arrived before dawn to look at it. ';

export interface Written {
  readonly matches: number;
  readonly perSecond: number;
}

/** Writes more matches for the rule of the stalled streams than the kernel can buffer. */
export async function flood(database: pg.Pool, natsUrl: string): Promise<void> {
  const nats = await connect({ servers: natsUrl });
  for (let n = 0; n < 100; n++) {
    await writeBatch(database, { size: 1, rules: 0, text: 'x'.repeat(64 * 1024) });
    nats.publish('earshot.bell.matches');
  }
  await nats.drain();
}

/** Writes as match workers do: posts and matches in one transaction, positions in commit order, then the wake-up. */
export async function writeMatches(
  database: pg.Pool,
  options: { natsUrl: string; rules: number; rate: number; seconds: number },
): Promise<Written> {
  const { rules, rate, seconds } = options;
  const nats = await connect({ servers: options.natsUrl });
  const startedAt = performance.now();
  let matches = 0;
  while (performance.now() - startedAt < seconds * 1_000) {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * rate) - matches;
    // The rate shows a writer that cannot keep up. Batches are no larger than a match worker's.
    const size = Math.min(2_000, due);
    const text = `at ${Date.now()} ${sentence.repeat(3)}`;
    if (size > 0) await writeBatch(database, { size, rules, text });
    if (size > 0) nats.publish('earshot.bell.matches');
    matches += size;
    if (due < 2_000) await new Promise((resolve) => setTimeout(resolve, batchMs));
  }
  await nats.drain();
  return { matches, perSecond: (matches * 1_000) / (performance.now() - startedAt) };
}

async function writeBatch(
  database: pg.Pool,
  { size, rules, text }: { size: number; rules: number; text: string },
): Promise<void> {
  const client = await database.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query<{ ticket: string; before: string }>(
      'select ticket, before from take_positions($1)',
      [size],
    );
    const first = Number(rows[0]?.before) + 1;
    await client.query('select take_turn($1, $2, $3)', [rows[0]?.ticket, rows[0]?.before, size]);
    const payload = JSON.stringify({
      url: null,
      title: null,
      text,
      author: null,
      published_at: null,
      language: 'en',
      raw: { data: { text: sentence.repeat(3) } },
    });
    await client.query(
      `insert into posts (platform, event_key, event_day, platform_post_id, payload)
       select 'x', 'bench-' || n, (now() at time zone 'UTC')::date, n::text, $3
       from generate_series($1::bigint, $1::bigint + $2::bigint - 1) as n`,
      [first, size, payload],
    );
    await client.query(
      `with new as (
         insert into matches (position, account_id, rule_id, rule_version, platform, event_key, event_day)
         select n, (select id from accounts), 'rule_' || case when $3 = 0 then 0 else 1 + n % greatest($3::bigint, 1) end, 1, 'x', 'bench-' || n,
           (now() at time zone 'UTC')::date
         from generate_series($1::bigint, $1::bigint + $2::bigint - 1) as n
         returning *
       )
       insert into day_heads (account_id, rule_id, platform, event_day, first_position, last_position, matches)
       select account_id, coalesce(rule_id, ''), platform, event_day, min(position), max(position), count(*)
       from new group by grouping sets ((account_id, rule_id, platform, event_day), (account_id, platform, event_day))
       on conflict (account_id, rule_id, platform, event_day) do update
         set last_position = excluded.last_position, matches = day_heads.matches + excluded.matches`,
      [first, size, rules],
    );
    await client.query('commit');
  } finally {
    client.release();
  }
}
