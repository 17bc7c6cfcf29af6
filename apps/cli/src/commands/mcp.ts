import { once } from 'node:events';
import { command } from '../command.ts';
import { integer } from '../options.ts';

/** Longer than a tool waits for matches, shorter than what the clients of agents wait for. */
const timeoutMs = 45_000;
/** As at /mcp of a server that is not told otherwise. */
const defaultConfirmUsd = 5;

export const mcp = command({
  name: 'mcp',
  summary: 'the MCP server on stdin and stdout, for agents on this machine',
  details:
    'The agent starts it, and it ends when its stdin is closed; docs/mcp.md shows the configuration. Over HTTP the same tools are at\n/mcp of the server.',
  options: {
    'confirm-above': integer(
      '<usd>',
      `ask the user before a rule that is likely to cost more dollars a day (default ${defaultConfirmUsd})`,
      { min: 0, max: 1_000_000 },
    ),
  },
  aboutJson: 'changes nothing: stdout is for the protocol alone',
  examples: ['earshot mcp'],
  async run({ options }, { connect, screen }) {
    const earshot = await connect({ timeoutMs });
    // Loaded here: no other command needs it.
    const { serveMcpOverStdio } = await import('@earshot/mcp');
    await using _served = serveMcpOverStdio({
      earshot,
      confirmAboveUsd: options['confirm-above'] ?? defaultConfirmUsd,
      onFault: (error) => screen.note(error instanceof Error ? error.message : String(error)),
    });
    await once(process.stdin, 'close');
  },
});
