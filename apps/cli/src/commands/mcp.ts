import { once } from 'node:events';
import type { Scope } from '@earshot/contract/scopes';
import { type Earshot, EarshotError } from '@earshot/sdk';
import { command } from '../command.ts';
import { integer, text } from '../options.ts';

/** Longer than a tool waits for matches, and shorter than the timeouts of MCP clients. */
const timeoutMs = 45_000;
/** Timeout of the request for the scopes of the key. */
const startMs = 10_000;
/** The same default as at /mcp of a server. */
const defaultConfirmUsd = 5;

export const mcp = command({
  name: 'mcp',
  summary: 'run the MCP server on stdin and stdout, for agents on this machine',
  details: 'The agent starts it: see docs/mcp.md. The server has the same tools over HTTP at /mcp.',
  options: {
    'confirm-above': integer(
      '<usd>',
      `ask the user before starting a rule that may cost more dollars a day (default ${defaultConfirmUsd})`,
      { min: 0, max: 1_000_000 },
    ),
    channel: text(
      '<reader>',
      'announce new matches of this named reader to Claude Code, as a channel (a research preview); only tools show their text',
    ),
  },
  aboutJson: 'changes nothing: stdout is for the protocol alone',
  examples: ['earshot mcp', 'earshot mcp --channel morning-report'],
  async run({ options }, { connect, screen }) {
    const earshot = await connect({ timeoutMs });
    // Loaded here: no other command needs it.
    const { serveMcpOverStdio } = await import('@earshot/mcp');
    await using _served = serveMcpOverStdio({
      earshot,
      scopes: await scopesOf(earshot),
      channel: options.channel,
      confirmAboveUsd: options['confirm-above'] ?? defaultConfirmUsd,
      onFault: (error) => screen.note(error instanceof Error ? error.message : String(error)),
    });
    await once(process.stdin, 'close');
  },
});

/** Undefined if the server is unreachable or refuses the key. Each tool then reports the error. */
async function scopesOf(earshot: Earshot): Promise<readonly Scope[] | undefined> {
  try {
    return (await earshot.whoAmI({}, { timeoutMs: startMs })).scopes;
  } catch (error) {
    if (error instanceof EarshotError) return undefined;
    throw error;
  }
}
