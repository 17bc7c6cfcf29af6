import { platformDescriptions, platforms } from '@earshot/contract';
import type { Earshot } from '@earshot/sdk';
import type { McpServer } from '@modelcontextprotocol/server';

/** The syntax guides as resources, for clients that let people attach them to a conversation. */
export function addResources(server: McpServer, earshot: Earshot): void {
  for (const platform of platforms) {
    const { title, items } = platformDescriptions[platform];
    const uri = `earshot://syntax/${platform}`;
    const config = {
      title: `Rule syntax of ${title}`,
      description: `How to write rules for ${items}.`,
      mimeType: 'text/markdown',
    };
    server.registerResource(`syntax-${platform}`, uri, config, async (_uri, { mcpReq: { signal } }) => {
      const guides = await earshot.platformSyntax({ platforms: [platform] }, { signal });
      const text = guides.platforms[platform]?.markdown ?? '';
      return { contents: [{ uri, mimeType: 'text/markdown', text }] };
    });
  }
}
