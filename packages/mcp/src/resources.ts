import type { Platform } from '@earshot/contract';
import type { Earshot } from '@earshot/sdk';
import type { McpServer } from '@modelcontextprotocol/server';

const guides: ReadonlyArray<{ platform: Platform; title: string; description: string }> = [
  { platform: 'x', title: 'Rule syntax of X', description: 'How to write rules for posts on X.' },
  {
    platform: 'firehose',
    title: 'Rule syntax of Firehose',
    description: 'How to write rules for web pages as they change.',
  },
];

/** The guides again, for clients that let people attach them to a conversation. */
export function addResources(server: McpServer, earshot: Earshot): void {
  for (const { platform, title, description } of guides) {
    const uri = `earshot://syntax/${platform}`;
    const config = { title, description, mimeType: 'text/markdown' };
    server.registerResource(`syntax-${platform}`, uri, config, async (_uri, { mcpReq: { signal } }) => {
      const { platforms } = await earshot.platformSyntax({ platforms: [platform] }, { signal });
      const text = platforms[platform]?.markdown ?? '';
      return { contents: [{ uri, mimeType: 'text/markdown', text }] };
    });
  }
}
