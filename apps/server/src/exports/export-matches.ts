import { Readable } from 'node:stream';
import {
  type ExportedMatch,
  type ExportFormat,
  exportTypes,
  parquetMatchesMax,
  type RequestOf,
} from '@earshot/contract';
import type { Call, FileAnswer } from '../accounts/call.ts';
import type { Database } from '../engines/database.ts';
import type { Following } from '../readers/follow-matches.ts';
import type { MatchReader } from '../readers/match-reader.sql.ts';
import type { Views } from '../readers/views.ts';
import { noSuchRule } from '../rules/refusals.ts';
import type { RuleStore } from '../rules/rule-store.sql.ts';
import { badField, Failure } from '../runtime/failure.ts';
import { matchIdOf, positionOf } from '../runtime/ids.ts';
import type { CountExport } from './export-limit.ts';
import { parquetBytes } from './parquet-format.ts';
import { findEndOfPart } from './part.sql.ts';
import { type RowRange, type Rows, readRows, readRuleNames } from './read-rows.ts';
import { csvHeader, csvLine, ndjsonLine } from './text-formats.ts';

export interface ExportMatchesOptions {
  readonly database: Database;
  readonly following: Pick<Following, 'now' | 'stored'>;
  readonly reader: Pick<MatchReader, 'overtaken'>;
  readonly rules: Pick<RuleStore, 'exists'>;
  readonly views: Pick<Views, 'view'>;
  readonly countExport: CountExport;
}

type Request = RequestOf<'ExportMatches'>;

/**
 * Streams matches as a file. Ids of matches are positions in the log, which never change: so a row's id is an exact place to continue
 * from, and the id of the last match an exact end.
 */
export function exportMatches(options: ExportMatchesOptions) {
  const { database, following, rules, views, countExport } = options;
  return async ({ principal: { accountId }, request }: Call<'ExportMatches'>): Promise<FileAnswer> => {
    const ruleId = request.rule_id ?? null;
    if (ruleId !== null && !(await rules.exists(accountId, ruleId))) throw noSuchRule();
    using stack = new DisposableStack();
    stack.use(countExport(accountId));
    const after = await placeToContinue(options, accountId, request);
    const end = Math.min(await following.now(), readPlace('through', request.through) ?? Infinity);
    const filter = {
      accountId,
      ruleIds: ruleId === null ? null : [ruleId],
      platform: request.platform ?? null,
      since: request.from === undefined ? null : new Date(request.from),
      until: request.to === undefined ? null : new Date(request.to),
    };
    const sql = database.forAccount(accountId);
    const limit = request.limit ?? (request.format === 'parquet' ? parquetMatchesMax : null);
    const partEnd =
      limit === null
        ? null
        : await sql.snapshot((at) => findEndOfPart(at, filter, { after, through: end, limit }));
    const { relevance = 'all', hidden = 'exclude' } = request;
    const range: RowRange = { ...filter, after, through: partEnd ?? end, view: { relevance, hidden } };
    const ruleNames = await readRuleNames(sql, accountId);
    const pages = readRows({ read: following.stored, views, ruleNames }, range);
    const file = Readable.from(encoders[request.format](pages), { objectMode: false });
    const counted = stack.move();
    file.once('close', () => counted.dispose());
    return {
      file,
      headers: {
        'content-type': exportTypes[request.format],
        'content-disposition': `attachment; filename="matches.${request.format}"`,
        'x-export-through': matchIdOf(end),
        ...(partEnd !== null && { 'x-export-cursor': matchIdOf(partEnd) }),
      },
    };
  };
}

type Encode = (pages: AsyncGenerator<Rows>) => AsyncGenerator<Uint8Array>;

const encoders: Readonly<Record<ExportFormat, Encode>> = {
  ndjson: (pages) => textBytes(pages, '', ndjsonLine),
  csv: (pages) => textBytes(pages, csvHeader, csvLine),
  parquet: parquetBytes,
};

/** Small pieces are collected with the youngest garbage. Large ones would let the heap grow. */
const pieceLength = 64 * 1024;

async function* textBytes(
  pages: AsyncGenerator<Rows>,
  head: string,
  lineOf: (row: ExportedMatch) => string,
): AsyncGenerator<Uint8Array> {
  let piece = head;
  for await (const { rows } of pages) {
    for (const row of rows) {
      piece += lineOf(row);
      if (piece.length < pieceLength) continue;
      yield Buffer.from(piece);
      piece = '';
    }
  }
  yield Buffer.from(piece);
}

/** Throws if the log was restored to an earlier state: then matches behind the cursor may have other ids. */
async function placeToContinue(
  { reader }: Pick<ExportMatchesOptions, 'reader'>,
  accountId: string,
  request: Request,
): Promise<number> {
  const position = readPlace('cursor', request.cursor);
  if (position === null) return 0;
  const filter = { accountId, ruleId: null, platform: null };
  const { restoredTo } = await reader.overtaken(filter, position);
  if (restoredTo === null) return position;
  throw new Failure(
    'out_of_range',
    'The match log was restored to an earlier state. Export again from details.oldest_cursor: matches after it may have new ids.',
    { details: { reason: 'restored', oldest_cursor: matchIdOf(restoredTo) } },
  );
}

function readPlace(field: 'cursor' | 'through', matchId: string | undefined): number | null {
  if (matchId === undefined) return null;
  const position = positionOf(matchId);
  if (position === null) throw badField(field, 'Must be the id of a match, such as "mat_0000000002rs".');
  return position;
}
