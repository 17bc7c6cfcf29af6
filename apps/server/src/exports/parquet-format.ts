import { zstdCompressSync } from 'node:zlib';
import type { ExportedMatch } from '@earshot/contract';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { columns } from './export-row.ts';
import type { Rows } from './read-rows.ts';

type Column = (typeof columns)[number];

const types: Readonly<Partial<Record<Column, object>>> = {
  created_at: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  published_at: { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
  rule_version: { type: 'INT32' },
};
const text = { type: 'BYTE_ARRAY', converted_type: 'UTF8' };
const required: readonly Column[] = [
  'id',
  'created_at',
  'rule_id',
  'rule_version',
  'rule_name',
  'platform',
  'platform_post_id',
  'via',
  'raw',
];

const schema = [
  { name: 'matches', num_children: columns.length },
  ...columns.map((name) => ({
    name,
    ...(types[name] ?? text),
    repetition_type: required.includes(name) ? 'REQUIRED' : 'OPTIONAL',
  })),
];

/** A row group is in memory as a whole. Larger ones compress better. */
const groupRowsMax = 10_000;
const groupCharactersMax = 4 * 1024 * 1024;

/** Yields the bytes of a Parquet file: one row group after the other, then the footer. */
export async function* parquetBytes(pages: AsyncIterable<Pick<Rows, 'rows'>>): AsyncGenerator<Uint8Array> {
  const taken = createTakenWriter();
  const file = new ParquetWriter({
    writer: taken.writer,
    schema: schema as ConstructorParameters<typeof ParquetWriter>[0]['schema'],
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstdCompressSync(bytes) },
    createdBy: 'earshot',
  });
  let group: ExportedMatch[] = [];
  let characters = 0;
  const write = () => {
    const columnData = columns.map((name) => ({
      name,
      data: group.map((row) => valueOf(row, name)),
      offsetIndex: false,
    }));
    void file.write({ columnData, rowGroupSize: group.length });
    group = [];
    characters = 0;
    return taken.take();
  };
  for await (const { rows } of pages) {
    for (const row of rows) {
      group.push(row);
      characters += row.raw.length + (row.text?.length ?? 0);
      if (group.length >= groupRowsMax || characters >= groupCharactersMax) yield write();
    }
  }
  if (group.length > 0) yield write();
  void file.finish();
  yield taken.take();
}

function valueOf(row: ExportedMatch, name: Column): string | number | Date | null {
  const value = row[name];
  return value !== null && (name === 'created_at' || name === 'published_at') ? new Date(value) : value;
}

/** Hands over the bytes after each row group. The library counts offsets over the whole file. */
function createTakenWriter() {
  const writer = new ByteWriter();
  return {
    writer,
    take(): Uint8Array {
      const bytes = writer.getBytes().slice();
      writer.index = 0;
      return bytes;
    },
  };
}
