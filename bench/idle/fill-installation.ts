import type pg from 'pg';
import { slotTag } from '../../apps/server/src/slots/slot.ts';

interface Filling {
  readonly rules: number;
  /** Rules with the same value hold the same one. */
  readonly slots: number;
  readonly accounts: number;
  readonly upstream: { readonly url: string; readonly token: string };
}

const rulesPerCall = 100;

/** Rules as they are long after their creation: each holds a slot, and X has a rule for every slot. */
export async function fillInstallation(superuser: pg.Pool, filling: Filling): Promise<void> {
  const { rules, slots, accounts, upstream } = filling;
  const { rows } = await superuser.query<{ id: string }>('select id from installation');
  const ids = await registerUpstream(upstream, rows[0]?.id ?? '', slots);
  await superuser.query(
    `insert into accounts (id, name, plan) select 'acct_' || n, 'bench', 'paid' from generate_series(0, $1::integer - 1) as n`,
    [accounts],
  );
  await superuser.query(`insert into sources (id, platform, capacity) values ('x:main', 'x', $1)`, [slots]);
  await superuser.query(
    `insert into slots (id, platform, source_id, value, value_hash, state, upstream_rule_id, registered_at, confirmed_at)
     select 'slot_' || n - 1, 'x', 'x:main', 'word' || n - 1, sha256(('x' || chr(10) || 'word' || n - 1)::bytea), 'registered',
       upstream_rule_id, now(), now()
     from unnest($1::text[]) with ordinality as registered (upstream_rule_id, n)`,
    [ids],
  );
  await superuser.query(
    `insert into rules (id, account_id, name, intent, state)
     select 'rule_' || n, 'acct_' || n % $2::integer, 'rule', 'to measure', 'active' from generate_series(0, $1::integer - 1) as n`,
    [rules, accounts],
  );
  await superuser.query(
    `insert into rule_versions (rule_id, version, platform, value, translated_value, slot_id)
     select 'rule_' || n, 1, 'x', value, value, slots.id
     from generate_series(0, $1::integer - 1) as n join slots on slots.id = 'slot_' || n % $2::integer`,
    [rules, slots],
  );
  await superuser.query(
    `insert into slot_holders (slot_id, rule_id, account_id, platform, rule_version, served_since)
     select slot_id, rule_id, account_id, platform, 1, now() from rule_versions join rules on rules.id = rule_id`,
  );
  await superuser.query('vacuum analyze');
}

/** Returns the ids that X gave, in the order of the slots. */
async function registerUpstream(
  { url, token }: Filling['upstream'],
  installation: string,
  slots: number,
): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < slots) {
    const size = Math.min(rulesPerCall, slots - ids.length);
    const add = Array.from({ length: size }, (_, n) => ({
      value: `word${ids.length + n}`,
      tag: slotTag(installation, `slot_${ids.length + n}`),
    }));
    const answer = await fetch(new URL('/2/tweets/search/stream/rules', url), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ add }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    ids.push(...(JSON.parse(text) as { data: { id: string }[] }).data.map(({ id }) => id));
  }
  return ids;
}
