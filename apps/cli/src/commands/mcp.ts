import { once } from 'node:events';
import type { Scope } from '@earshot/contract/scopes';
import { type Earshot, EarshotError } from '@earshot/sdk';
import { command } from '../command.ts';
import { integer, text } from '../options.ts';

/** Longer than a tool waits for matches, shorter than what the clients of agents wait for. */
const timeoutMs = 45_000;
/** How long the start may wait for what the key may do. */
const startMs = 10_000;
/** As at /mcp of a server that is not told otherwise. */
const defaultConfirmUsd = 5;

export const mcp = command({
  name: 'mcp',
  summary: 'the MCP server on stdin and stdout, for agents on this machine',
  details:
    'The agent starts it, and it ends when its stdin is closed; docs/mcp.md shows the configuration. Over HTTP the same tools are at /mcp of the server.',
  options: {
    'confirm-above': integer(
      '<usd>',
      `ask the user before a rule that is likely to cost more dollars a day (default ${defaultConfirmUsd})`,
      { min: 0, max: 1_000_000 },
    ),
    channel: text(
      '<reader>',
      'tell Claude Code of new matches of this named reader, as a channel (a research preview); their text is left to the tools',
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

/** Undefined when the server does not say, because it is older, cannot be reached, or refuses the key: each tool then says so. */
async function scopesOf(earshot: Earshot): Promise<readonly Scope[] | undefined> {
  try {
    return (await earshot.whoAmI({}, { timeoutMs: startMs })).scopes;
  } catch (error) {
    if (error instanceof EarshotError) return undefined;
    throw error;
  }
}
