import { McpServer } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { openChannel } from '../src/channel.ts';

/** Reads one page, and returns the cursors that the channel acknowledges. */
async function acknowledgedOf(page: object): Promise<string[]> {
  const ending = new AbortController();
  const cursors: string[] = [];
  const earshot = {
    readMatches: async () => {
      // The channel ends after this page.
      ending.abort();
      return { matches: [], cursor: 'c1', coverage: null, ...page };
    },
    ackMatches: async ({ cursor }: { cursor: string }) => {
      cursors.push(cursor);
      return { reader: 'r', moved: true };
    },
  };
  const server = new McpServer({ name: 'test', version: '1' });
  const channel = openChannel(server, { earshot, reader: 'r', signal: ending.signal });
  await expect(channel).rejects.toThrow('aborted');
  return cursors;
}

test('a channel acknowledges only a page without anything that the agent should read', async () => {
  expect(await acknowledgedOf({ hidden: { muted: 2, not_relevant: 0 } })).toEqual(['c1']);
  expect(await acknowledgedOf({ removed: [{ match_id: 'mat_1' }] })).toEqual([]);
  expect(await acknowledgedOf({ cursor: null })).toEqual([]);
});
