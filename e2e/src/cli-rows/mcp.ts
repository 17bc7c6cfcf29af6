import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { type Rows, saying } from './scene.ts';

const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'row', version: '1' } };
const asked = [
  { id: 1, method: 'initialize', params: client },
  { id: 2, method: 'tools/list' },
  { id: 3, method: 'tools/call', params: { name: 'list_rules', arguments: {} } },
  { id: 4, method: 'tools/call', params: { name: 'get_rule', arguments: { rule_id: 'rule_none' } } },
];

export const mcpRows: Rows = {
  async mcp(earshot, { cli, server, account }) {
    const nobody = await earshot.with({ env: { EARSHOT_URL: '', EARSHOT_API_KEY: '' } });
    expect(nobody).toEqual({ code: 4, stdout: '', stderr: saying('earshot login') });

    const env = { PATH: process.env['PATH'], EARSHOT_URL: server.url, EARSHOT_API_KEY: account.key };
    const child = spawn(cli.file, ['mcp'], { cwd: cli.dir, env, stdio: 'pipe' });
    const complaints = text(child.stderr);
    const exited = once(child, 'close');
    child.stdin.write('this is not the protocol\n');
    for (const message of asked) child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    // Every line of stdout is a message; whatever else there is to say goes to stderr.
    const answers = new Map<unknown, string>();
    for await (const line of createInterface({ input: child.stdout })) {
      const { jsonrpc, id } = JSON.parse(line);
      expect(jsonrpc).toBe('2.0');
      answers.set(id, line);
      if (asked.every((message) => answers.has(message.id))) child.stdin.end();
    }
    expect(await exited).toEqual([0, null]);
    expect(answers.get(3)).toContain('"structuredContent"');
    expect(answers.get(4)).toContain('"isError":true');
    expect(await complaints).not.toContain('esk_');
  },
};
