import type { Platform } from '@earshot/contract';
import type { Sql } from '../engines/database.ts';
import type { BilledKind } from '../upstream/platform.ts';
import { platforms } from '../upstream/platforms.ts';
import { whole } from './divide.ts';
import { type Prices, priceOf, roundUsd, type Usd } from './prices.ts';

/** A part of the upstreams' bills. */
export interface BillLine {
  readonly day?: string;
  readonly source_id?: string;
  /** Empty for the part that no rule got. */
  readonly account_id?: string;
  readonly platform: string;
  readonly kind: string;
  readonly at_least: number;
  readonly at_most: number;
  readonly usd: Usd;
}

interface CountedLine {
  readonly day?: string;
  readonly source_id?: string;
  readonly account_id?: string;
  readonly platform: string;
  readonly kind: BilledKind;
  readonly at_least: number;
  readonly at_most: number;
}

const sinceDay = `day > (now() at time zone 'UTC')::date - $1::integer`;

/** Per source and day, for the last days including today. */
export async function readBillBySource(sql: Sql, days: number, prices: Prices): Promise<BillLine[]> {
  const rows = await sql.many<CountedLine>(
    `select day::text, source_id, split_part(source_id, ':', 1) as platform, kind, at_least, at_most
     from source_usage where ${sinceDay} order by day, source_id, kind`,
    [days],
  );
  return rows.map((row) => priced(row, prices));
}

/** The same bill divided among accounts. The parts add up to it. */
export async function readBillByAccount(sql: Sql, days: number, prices: Prices): Promise<BillLine[]> {
  const rows = await sql.many<CountedLine>(
    `select account_id, split_part(source_id, ':', 1) as platform, kind,
       sum(at_least)::bigint as at_least, sum(at_most)::bigint as at_most
     from bill_shares where ${sinceDay} group by account_id, platform, kind order by account_id, platform, kind`,
    [days],
  );
  return rows.map((row) =>
    priced({ ...row, at_least: row.at_least / whole, at_most: row.at_most / whole }, prices),
  );
}

function priced(line: CountedLine, prices: Prices): BillLine {
  const price = isPlatform(line.platform) ? priceOf(prices, line.platform, line.kind) : 0;
  return { ...line, usd: roundUsd({ min: line.at_least * price, max: line.at_most * price }) };
}

/** A source may belong to a platform that this version no longer has. */
function isPlatform(name: string): name is Platform {
  return Object.hasOwn(platforms, name);
}

/** Everything that was ever billed, for counters that continue after a restart. */
export async function readBilledTotals(sql: Sql, prices: Prices): Promise<BillLine[]> {
  const rows = await sql.many<CountedLine>(
    `select source_id, split_part(source_id, ':', 1) as platform, kind, sum(at_least)::bigint as at_least,
       sum(at_most)::bigint as at_most
     from source_usage group by source_id, kind order by source_id, kind`,
  );
  return rows.map((row) => priced(row, prices));
}
