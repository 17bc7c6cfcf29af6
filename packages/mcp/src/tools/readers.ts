import { requestObject } from '@earshot/contract';
import type { Answers } from '@earshot/sdk';
import { z } from 'zod';
import { unhidden } from '../content/visible.ts';
import { defineTool, readsOnly, type ToolCall } from '../tool.ts';

type Readers = Answers['ListReaders']['readers'];

const listReaders = defineTool({
  name: 'list_readers',
  title: 'List readers',
  description:
    'The readers of wait_for_matches, whose positions the server stores; least recently used first.',
  annotations: readsOnly,
  operation: 'ListReaders',
  input: requestObject({}),
  output: z.object({
    left_out: z.int(),
    readers: z.array(z.looseObject({ name: z.string(), used_at: z.string() })),
  }),
  async run(_, call) {
    const readers = await allReaders(call);
    const usedAt = (reader: (typeof readers)[number]) => reader.acknowledged_at ?? reader.created_at;
    const shown = readers.toSorted((a, b) => usedAt(a).localeCompare(usedAt(b))).slice(0, readersMax);
    return {
      structured: {
        left_out: readers.length - shown.length,
        readers: shown.map((reader) => ({ ...reader, name: unhidden(reader.name), used_at: usedAt(reader) })),
      },
    };
  },
});

const readersMax = 50;

/** Reads all pages, because the API sorts readers by name. */
export async function allReaders({ earshot, signal }: ToolCall): Promise<Readers> {
  const all: Readers = [];
  let cursor: string | undefined;
  for (;;) {
    const { readers, next_cursor } = await earshot.listReaders({ cursor }, { signal });
    all.push(...readers);
    if (next_cursor === null) return all;
    cursor = next_cursor;
  }
}

const deleteReader = defineTool({
  name: 'delete_reader',
  title: 'Delete a reader',
  description: 'With its position, to make room for another. Its matches stay.',
  annotations: { ...readsOnly, readOnlyHint: false, destructiveHint: true },
  operation: 'DeleteReader',
  input: requestObject({ reader: z.string() }),
  output: z.object({ reader: z.string(), deleted_at: z.string() }),
  run: async (args, { earshot, signal }) => ({ structured: await earshot.deleteReader(args, { signal }) }),
});

export const readerTools = [listReaders, deleteReader];
