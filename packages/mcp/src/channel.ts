import { setTimeout as pause } from 'node:timers/promises';
import { type Earshot, EarshotError, type Match } from '@earshot/sdk';
import type { McpServer } from '@modelcontextprotocol/server';
import { unhidden } from './content/visible.ts';

/** Claude Code's capability of servers that push into a session. It is a research preview, so the names may change. */
export const channelCapability = { 'claude/channel': {} } as const;
const method = 'notifications/claude/channel';

interface ChannelOptions {
  readonly earshot: Pick<Earshot, 'readMatches' | 'ackMatches'>;
  /** Name of a reader of matches. Its first use creates it, and it starts with new matches. */
  readonly reader: string;
  readonly signal: AbortSignal;
}

const pageMax = 100;
const waitSeconds = 30;
/** Between two requests: Earshot answers at once while a match is unread, or while a node shuts down. */
const pauseMs = 5_000;

/**
 * Announces new matches to the client while it is connected. The agent reads and acknowledges them with wait_for_matches and the same
 * reader. While a full page is unread, nothing more is announced. A page whose matches are all left out is acknowledged here, because
 * nothing makes the agent read it.
 */
export async function openChannel(server: McpServer, options: ChannelOptions): Promise<void> {
  const { earshot, reader, signal } = options;
  let announced: ReadonlySet<string> = new Set();
  while (!signal.aborted) {
    const request = { reader, limit: pageMax, wait_seconds: waitSeconds };
    const page = await orNull(earshot.readMatches(request, { signal }));
    const { matches = [], removed = [], cursor = null } = page ?? {};
    const news = matches.filter(({ id }) => !announced.has(id));
    if (news.length > 0) await server.server.notification({ method, params: announce(reader, news) });
    if (page) announced = new Set(matches.map(({ id }) => id));
    if (cursor !== null && matches.length + removed.length === 0)
      await orNull(earshot.ackMatches({ reader, cursor }, { signal }));
    await pause(pauseMs, undefined, { signal });
  }
}

/** Null if the request may succeed later. */
async function orNull<Answer>(request: Promise<Answer>): Promise<Answer | null> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof EarshotError && error.retryable) return null;
    throw error;
  }
}

const idsMax = 20;

/** Only counts and ids, never untrusted content: to the model, a pushed text looks like a message of its user. */
function announce(reader: string, matches: readonly Match[]) {
  const name = JSON.stringify(unhidden(reader));
  const rules = Map.groupBy(matches, ({ rule_id }) => rule_id);
  const lines = Array.from(rules, ([rule, of]) => `${rule}: ${of.length}`);
  const ids = matches.slice(0, idsMax).map(({ id }) => id);
  const more = matches.length > ids.length ? ` and ${matches.length - ids.length} more` : '';
  return {
    content: [
      `New matches for the reader ${name}. Read them with wait_for_matches.`,
      ...lines,
      `${ids.join(' ')}${more}`,
    ].join('\n'),
    meta: { matches: String(matches.length), rules: [...rules.keys()].slice(0, idsMax).join(' ') },
  };
}
