import { isChatFormat, type WebhookFormat } from '@earshot/contract';
import { type Attempt, asAnswerOfChat, secretUnreadable } from './endpoint-state.ts';
import { render } from './formats/render.ts';
import { type SecretBox, signedHeaders } from './secrets.ts';
import type { Sender } from './sender.ts';

export interface SendOptions {
  readonly sender: Sender;
  readonly secretBox: SecretBox;
  /** Where people find everything; null when the operator has not said where that is. */
  readonly consoleUrl?: string | null | undefined;
}

interface Target {
  readonly webhookId: string;
  readonly url: string;
  readonly format: WebhookFormat;
  readonly secrets: readonly Buffer[];
}

/** One attempt with a message as it is stored, in the format of the endpoint. Chats check no signature and get none. */
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
