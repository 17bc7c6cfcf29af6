import { setTimeout as pause } from 'node:timers/promises';
import { type Earshot, EarshotError, type Match } from '@earshot/sdk';
import type { McpServer } from '@modelcontextprotocol/server';
import { unhidden } from './content/visible.ts';

/** What Claude Code calls a server that may push into its session: a research preview, so the names may change. */
export const channelCapability = { 'claude/channel': {} } as const;
const method = 'notifications/claude/channel';

interface ChannelOptions {
  readonly earshot: Pick<Earshot, 'readMatches'>;
  /** Of matches; made at its first use, from now on. */
  readonly reader: string;
  readonly signal: AbortSignal;
}

const pageMax = 100;
const waitSeconds = 30;
/** Between two questions: while something is unread, and while a node shuts down, they are answered at once. */
const pauseMs = 5_000;

/**
 * Tells the client of new matches for as long as it is connected. Nothing is acknowledged: the agent reads the matches with
 * wait_for_matches, under the same name. As long as a full page is unread, it is told nothing more.
 */
export async function openChannel(server: McpServer, options: ChannelOptions): Promise<void> {
  const { earshot, reader, signal } = options;
  let told: ReadonlySet<string> = new Set();
  while (!signal.aborted) {
    const request = { reader, start: 'now', limit: pageMax, wait_seconds: waitSeconds } as const;
    const matches = await orNull(earshot.readMatches(request, { signal }));
    const news = matches?.matches.filter(({ id }) => !told.has(id)) ?? [];
    if (news.length > 0) await server.server.notification({ method, params: announce(reader, news) });
    if (matches) told = new Set(matches.matches.map(({ id }) => id));
    await pause(pauseMs, undefined, { signal });
  }
}

/** Null for what may succeed later. */
async function orNull<Answer>(asked: Promise<Answer>): Promise<Answer | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof EarshotError && error.retryable) return null;
    throw error;
  }
}

const idsMax = 20;

/** Counts and ids alone, never a word of a stranger: what is pushed into a session reads like a message of its user. */
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
