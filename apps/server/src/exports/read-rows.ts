import type { ExportedMatch, Match } from '@earshot/contract';
import type { Sql } from '../engines/database.ts';
import type { MatchQuery } from '../readers/match-days.sql.ts';
import type { MatchPage } from '../readers/match-reader.sql.ts';
import { type MatchEntry, toFacts } from '../readers/to-match.ts';
import type { View, Views } from '../readers/views.ts';
import { createTurns } from '../runtime/concurrency.ts';
import { toRow } from './export-row.ts';

export interface ReadRowsOptions {
  readonly read: (query: MatchQuery) => Promise<MatchPage>;
  readonly views: Pick<Views, 'view'>;
  readonly ruleNames: ReadonlyMap<string, string>;
}

/** The matches of a filter behind `after`, up to and including `through`. */
export interface RowRange extends Pick<MatchQuery, 'accountId' | 'ruleIds' | 'platform' | 'since' | 'until'> {
  readonly after: number;
  readonly through: number;
  /** What has no verdict yet is shown: a file does not wait. */
  readonly view: Omit<View, 'waits'>;
}

/** A page also ends before its payloads exceed 1 MiB. */
const pageSize = 250;

/** Rows that were read together, and the position up to which they were read. */
export interface Rows {
  readonly rows: readonly ExportedMatch[];
  readonly through: number;
}

/** Reads the rows of a range in the order of the log, a page at a time, and only when the caller wants it. */
export async function* readRows(
  { read, views, ruleNames }: ReadRowsOptions,
  { after, through, view, ...filter }: RowRange,
): AsyncGenerator<Rows> {
  const nextTurn = createTurns();
  let position = after;
  while (position < through) {
    const page = await read({ ...filter, order: 'oldest', from: position, limit: pageSize });
    const found = page.matches.filter((match) => match.position <= through);
    const reached = Math.max(page.matches.at(-1)?.position ?? 0, page.removals.at(-1)?.position ?? 0);
    const entries: MatchEntry[] = found.map((match) => ({
      position: match.position,
      match: { ...toFacts(match), why: unexplained },
    }));
    const wanted = { view: { ...view, waits: false }, marks: true };
    const seen = await views.view(filter.accountId, entries, wanted);
    const rows: ExportedMatch[] = [];
    for (const entry of seen.entries) {
      if (!('match' in entry)) continue;
      await nextTurn();
      rows.push(toRow(entry.match, ruleNames.get(entry.match.rule_id) ?? ''));
    }
    position = page.more ? Math.min(reached, through) : through;
    yield { rows, through: position };
  }
}

/** No view depends on it. */
const unexplained: Match['why'] = {
  verdict: 'unknown',
  confidence: 'approximate',
  evidence: [],
  undecided: [],
};

export async function readRuleNames(sql: Pick<Sql, 'many'>, accountId: string): Promise<Map<string, string>> {
  const rows = await sql.many<{ id: string; name: string }>(
    'select id, name from rules where account_id = $1',
    [accountId],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
