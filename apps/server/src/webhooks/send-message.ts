import { isChatFormat, type WebhookFormat } from '@earshot/contract';
import { type Attempt, asAnswerOfChat, secretUnreadable } from './endpoint-state.ts';
import { render } from './formats/render.ts';
import { type SecretBox, signedHeaders } from './secrets.ts';
import type { Sender } from './sender.ts';

export interface SendOptions {
  readonly sender: Sender;
  readonly secretBox: SecretBox;
  /** URL of the console for people; null if the operator has not configured it. */
  readonly consoleUrl?: string | null | undefined;
}

interface Target {
  readonly webhookId: string;
  readonly url: string;
  readonly format: WebhookFormat;
  readonly secrets: readonly Buffer[];
}

/**
 * Makes one attempt with a stored message, in the format of the endpoint. Chat messages are not signed, because chats
 * check no signature.
 */
export async function sendMessage(
  { sender, secretBox, consoleUrl = null }: SendOptions,
  { webhookId, url, format, secrets }: Target,
  message: { readonly messageId: string; readonly body: string },
  { nowMs, onUnreadable }: { readonly nowMs: number; readonly onUnreadable?: (error: unknown) => void },
): Promise<Attempt> {
  const { contentType, body } = render(format, message, consoleUrl);
  const headers = { 'content-type': contentType };
  if (isChatFormat(format)) return asAnswerOfChat(await sender.send({ url, headers, body }));
  let opened: string[];
  try {
    opened = secrets.map((sealed) => secretBox.open(webhookId, sealed));
  } catch (error) {
    onUnreadable?.(error);
    return secretUnreadable;
  }
  const signature = signedHeaders({ id: message.messageId, body }, opened, nowMs);
  return await sender.send({ url, headers: { ...headers, ...signature }, body });
}
