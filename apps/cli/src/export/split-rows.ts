const newline = 0x0a;
const quote = 0x22;

export interface CompleteRows {
  readonly bytes: Uint8Array;
  readonly count: number;
  /** The last complete row; null if there is none. */
  readonly last: { readonly id: string; readonly createdAt: string } | null;
}

/**
 * Cuts what arrives at the ends of rows, so that only complete rows are kept of a download that is cut. A CSV row may have line breaks
 * between quotes. The header of CSV is not counted as a row, and left out of a download that continues.
 */
export function createRowSplitter(
  format: 'ndjson' | 'csv',
  { withHeader }: { readonly withHeader: boolean },
) {
  let rest: Uint8Array = new Uint8Array();
  let scanned = 0;
  let isQuoted = false;
  let isAtHeader = format === 'csv';
  return {
    push(chunk: Uint8Array): CompleteRows {
      const bytes = Buffer.concat([rest, chunk]);
      const ends: number[] = [];
      for (; scanned < bytes.length; scanned++) {
        if (bytes[scanned] === quote && format === 'csv') isQuoted = !isQuoted;
        else if (bytes[scanned] === newline && !isQuoted) ends.push(scanned + 1);
      }
      const headerEnd = isAtHeader ? (ends.shift() ?? 0) : 0;
      isAtHeader &&= headerEnd === 0;
      const to = ends.at(-1) ?? headerEnd;
      rest = bytes.subarray(to);
      scanned = rest.length;
      const last = ends.length === 0 ? null : headOf(bytes.subarray(ends.at(-2) ?? headerEnd, to).toString());
      return { bytes: bytes.subarray(withHeader ? 0 : headerEnd, to), count: ends.length, last };
    },
  };

  /** The id and the time are the first columns, and need no quotes. */
  function headOf(row: string): { id: string; createdAt: string } {
    if (format === 'ndjson') {
      const { id, created_at } = JSON.parse(row);
      return { id, createdAt: created_at };
    }
    const [id = '', createdAt = ''] = row.split(',', 2);
    return { id, createdAt };
  }
}
