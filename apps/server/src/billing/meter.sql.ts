import type { Sql } from '../engines/database.ts';
import { databaseTime } from '../engines/database-time.ts';
import type { CallKind } from '../upstream/platform.ts';
import {
  type Bill,
  billOf,
  type Delivery,
  keyOf,
  noRecipient,
  type Resource,
  type Resources,
  resourcesOf,
} from './bill.ts';
import { whole } from './divide.ts';

/** Replays of items reach back one day, and the event log three days. */
const billedDaysKept = 6;
/** A year and a margin: for operators' reports, and for the usage of deleted rules. */
const usageDaysKept = 400;

interface BilledRow {
  day: string;
  meter: number;
  id: string;
}

/**
 * Finds which parts of the deliveries are new on the upstream's bill. Rows decide, so that a duplicate is billed once: in one batch, in
 * two concurrent batches or after a crash. Runs in the transaction that settles the deliveries, before it takes the locks that all
 * writers share. `recordBill` runs after that.
 */
export async function claimBill(sql: Sql, deliveries: readonly Delivery[]): Promise<Bill> {
  const resources = resourcesOf(deliveries);
  if (resources.size === 0) return { usage: [], shares: [] };
  const brought = new Set(await insertBilled(sql, [...resources.values()]));
  const isDelivered = ([, { deliveredBy }]: [string, Resource]) => deliveredBy !== null;
  const delivered = [...resources].filter(isDelivered).map(([key]) => key);
  const known = delivered.filter((key) => !brought.has(key));
  const broughtBefore = known.length > 0 ? await markDelivered(sql, resources, known) : [];
  const deliveredNow = [...delivered.filter((key) => brought.has(key)), ...broughtBefore];
  return billOf(resources, { brought, delivered: deliveredNow });
}

/** Returns the keys that are new. */
async function insertBilled(sql: Sql, resources: readonly Resource[]): Promise<string[]> {
  const rows = await sql.prepared<BilledRow>(
    `insert into billed (day, meter, id, delivered)
     select day, meter, id, delivered
     from unnest($1::date[], $2::integer[], $3::bigint[], $4::boolean[]) as given (day, meter, id, delivered)
     order by day, meter, id
     on conflict do nothing
     returning day::text, meter, id::text`,
    [...keysAsArrays(resources), resources.map(({ deliveredBy }) => deliveredBy !== null)],
  );
  return rows.map(keyOf);
}

/** Returns the existing keys that so far were only included with other items. */
async function markDelivered(sql: Sql, resources: Resources, keys: readonly string[]): Promise<string[]> {
  const known = keys.flatMap((key) => resources.get(key) ?? []);
  const rows = await sql.prepared<BilledRow>(
    `with came_along as materialized (
       select day, meter, id
       from unnest($1::date[], $2::integer[], $3::bigint[]) as given (day, meter, id)
       join billed using (day, meter, id)
       where not delivered order by day, meter, id for update of billed
     )
     update billed set delivered = true from came_along
     where billed.day = came_along.day and billed.meter = came_along.meter and billed.id = came_along.id
       and not billed.delivered
     returning billed.day::text, billed.meter, billed.id::text`,
    keysAsArrays(known),
  );
  return rows.map(keyOf);
}

function keysAsArrays(resources: readonly Resource[]): unknown[][] {
  return [
    resources.map(({ day }) => day),
    resources.map(({ meter }) => meter),
    resources.map(({ id }) => id),
  ];
}

export async function recordBill(sql: Sql, { usage, shares }: Bill): Promise<void> {
  if (usage.length === 0) return;
  await sql.prepared(
    `with counted as (
       insert into source_usage (source_id, day, kind, at_least, at_most)
       select * from unnest($1::text[], $2::date[], $3::text[], $4::bigint[], $5::bigint[])
       on conflict (source_id, day, kind) do update
         set at_least = source_usage.at_least + excluded.at_least, at_most = source_usage.at_most + excluded.at_most
     )
     insert into bill_shares (source_id, day, kind, at_least, at_most, account_id, rule_id)
     select * from unnest($6::text[], $7::date[], $8::text[], $9::bigint[], $10::bigint[], $11::text[], $12::text[])
     on conflict (day, source_id, kind, rule_id) do update
       set at_least = bill_shares.at_least + excluded.at_least, at_most = bill_shares.at_most + excluded.at_most`,
    [
      ...linesAsArrays(usage),
      ...linesAsArrays(shares),
      shares.map(({ accountId }) => accountId),
      shares.map(({ ruleId }) => ruleId),
    ],
  );
}

function linesAsArrays(lines: Bill['usage']): unknown[][] {
  return [
    lines.map(({ sourceId }) => sourceId),
    lines.map(({ day }) => day),
    lines.map(({ kind }) => kind),
    lines.map(({ atLeast }) => atLeast),
    lines.map(({ atMost }) => atMost),
  ];
}

/** A call that the source's credential was billed for, today. */
export async function recordCall(sql: Sql, sourceId: string, kind: CallKind): Promise<void> {
  const line = { sourceId, day: (await databaseTime(sql)).toISOString().slice(0, 10), kind };
  await recordBill(sql, {
    usage: [{ ...line, atLeast: 1, atMost: 1 }],
    shares: [{ ...line, ...noRecipient, atLeast: whole, atMost: whole }],
  });
}

/** Removes resources that can no longer arrive again. */
export async function forgetBilled(sql: Sql): Promise<void> {
  const today = `(now() at time zone 'UTC')::date`;
  await sql.run(`delete from billed where day < ${today} - $1::integer`, [billedDaysKept]);
  await sql.run(`delete from bill_shares where day < ${today} - $1::integer`, [usageDaysKept]);
  await sql.run(
    `delete from usage where day < ${today} - $1::integer and not exists (select 1 from rules where rules.id = usage.rule_id)`,
    [usageDaysKept],
  );
}
