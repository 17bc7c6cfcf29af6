import type { ChatFormat, WebhookFormat } from '@earshot/contract';
import { type ChatContent, chatContentOf } from './chat-content.ts';
import { renderCloudEvents } from './cloudevents.ts';
import { renderDiscord } from './discord.ts';
import { renderSlack } from './slack.ts';
import { renderTeams } from './teams.ts';

type RenderChat = (content: ChatContent, consoleUrl: string | null) => object;

const chats: Readonly<Record<ChatFormat, RenderChat>> = {
  slack: renderSlack,
  discord: renderDiscord,
  teams: renderTeams,
};

interface RenderedMessage {
  readonly contentType: string;
  readonly body: string;
}

/** Renders the bytes for an endpoint from a stored message: always the same for the same message. */
export function render(
  format: WebhookFormat,
  { messageId, body }: { readonly messageId: string; readonly body: string },
  consoleUrl: string | null,
): RenderedMessage {
  switch (format) {
    case 'standard':
      return { contentType: 'application/json', body };
    case 'cloudevents': {
      const events = renderCloudEvents(JSON.parse(body), messageId);
      return { contentType: 'application/cloudevents-batch+json', body: JSON.stringify(events) };
    }
    case 'slack':
    case 'discord':
    case 'teams': {
      const message = chats[format](chatContentOf(JSON.parse(body)), consoleUrl);
      return { contentType: 'application/json', body: JSON.stringify(message) };
    }
  }
}
