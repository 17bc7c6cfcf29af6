import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRowSplitter } from '../src/export/split-rows.ts';

const at = '2026-11-14T22:51:08.123Z';
const idOf = (n: number) => `mat_${String(n).padStart(12, '0')}`;
const texts = fc.array(fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r\n', 'a', 'é', '🙂', '\\') }), {
  minLength: 1,
  maxLength: 6,
});
const csvOf = (text: string) => `"${text.replaceAll('"', '""')}"`;
const header = 'id,created_at,text\r\n';
const rowsOf = {
  csv: (all: string[]) => all.map((text, n) => `${idOf(n)},${at},${csvOf(text)}\r\n`),
  ndjson: (all: string[]) =>
    all.map((text, n) => `${JSON.stringify({ id: idOf(n), created_at: at, text })}\n`),
};

test.for(['csv', 'ndjson'] as const)(
  '%s that is cut at any byte, and continued behind the last complete row, is whole',
  (format) => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(200), { maxLength: 5 }), fc.nat(400), (all, sizes, cutAt) => {
        const rows = rowsOf[format](all);
        const head = format === 'csv' ? header : '';
        const written: Buffer[] = [];
        let cursor: string | undefined;
        let count = 0;
        const receive = (bytes: Buffer, withHeader: boolean) => {
          const splitter = createRowSplitter(format, { withHeader });
          for (let from = 0, n = 0; from < bytes.length; n++) {
            const size = 1 + (sizes[n % Math.max(1, sizes.length)] ?? 0);
            const complete = splitter.push(bytes.subarray(from, from + size));
            written.push(Buffer.from(complete.bytes));
            count += complete.count;
            cursor = complete.last?.id ?? cursor;
            if (complete.last) expect(complete.last.createdAt).toBe(at);
            from += size;
          }
        };
        receive(Buffer.from(head + rows.join('')).subarray(0, cutAt), true);
        const next = cursor === undefined ? 0 : Number(cursor.slice(4)) + 1;
        receive(
          Buffer.from(head + rows.slice(next).join('')),
          written.every(({ length }) => length === 0),
        );
        expect(Buffer.concat(written).toString()).toBe(head + rows.join(''));
        expect(count).toBe(rows.length);
      }),
    );
  },
);
