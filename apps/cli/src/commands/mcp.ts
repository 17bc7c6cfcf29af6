import { once } from 'node:events';
import { serveMcpOverStdio } from '@earshot/mcp';
import { createEarshot } from '@earshot/sdk';
import type { Command } from '../command.ts';

export const mcp: Command = {
  name: 'mcp',
  summary: 'the MCP server on stdin and stdout, for agents on this machine',
  usage: [
    'Usage: EARSHOT_URL=<address> EARSHOT_API_KEY=<key> earshot mcp',
    '',
    'Serves the tools of Earshot over stdin and stdout until stdin ends. An MCP client starts it by itself:',
    '',
    '  { "mcpServers": { "earshot": { "command": "pnpm", "args": ["--silent", "earshot", "mcp"],',
    '      "env": { "EARSHOT_URL": "http://127.0.0.1:8080", "EARSHOT_API_KEY": "esk_…" } } } }',
    '',
    'Over HTTP the same tools are at /mcp of the server: see docs/mcp.md.',
  ].join('\n'),
  async run() {
    const { EARSHOT_URL: url, EARSHOT_API_KEY: key } = process.env;
    if (!url || !key) {
      console.error('earshot mcp: set EARSHOT_URL and EARSHOT_API_KEY.');
      return 2;
    }
    const earshot = createEarshot({ url, key, timeoutMs: 45_000 });
    await using _served = serveMcpOverStdio({
      earshot,
      onFault: (error) => console.error(error instanceof Error ? error.message : error),
    });
    await once(process.stdin, 'close');
    return 0;
  },
};
