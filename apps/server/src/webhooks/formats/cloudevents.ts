import type { Notice, Removal } from '@earshot/contract';
import type { SentMatch } from '../message.ts';

type Message = { readonly webhook_id: string } & (
  | {
      readonly type: 'matches';
      readonly matches: readonly SentMatch[];
      readonly removed?: readonly Removal[];
    }
  | { readonly type: 'notice'; readonly notice: Notice }
  | { readonly type: 'digest'; readonly digest_id: string; readonly to: string }
  | { readonly type: 'test' }
);

/** Renders a batch of CloudEvents 1.0 in JSON. An event has the same id at every attempt. */
export function renderCloudEvents(message: Message, messageId: string): object[] {
  const source = `/webhooks/${message.webhook_id}`;
  const event = (type: string, attributes: object, data: object) => ({
    specversion: '1.0',
    source,
    type: `earshot.${type}`,
    ...attributes,
    datacontenttype: 'application/json',
    data,
  });
  switch (message.type) {
    case 'matches':
      return [
        ...message.matches.map((match) =>
          event('match', { id: match.id, subject: match.rule_id, time: match.created_at }, match),
        ),
        ...(message.removed ?? []).map((removal) => {
          const { match_id: subject, removed_at: time } = removal;
          return event('match.removed', { id: `${subject}.removed`, subject, time }, removal);
        }),
      ];
    case 'notice': {
      // A resolved notice is sent again as another event, with another message id.
      const { notice } = message;
      const time = notice.resolved_at ?? notice.created_at;
      return [event('notice', { id: messageId, subject: notice.subject.id, time }, notice)];
    }
    case 'digest': {
      const { type: _type, webhook_id: _webhook, ...digest } = message;
      return [event('digest', { id: messageId, subject: digest.digest_id, time: digest.to }, digest)];
    }
    case 'test':
      return [event('test', { id: messageId }, { webhook_id: message.webhook_id })];
  }
}
