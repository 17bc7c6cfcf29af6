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

/** A batch of CloudEvents 1.0 in JSON. One event has the same id, whenever and however often it is sent. */
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
      // The notice comes again when it is resolved: as another event, which the id of its message tells apart.
      const { notice } = message;
      const time = notice.resolved_at ?? notice.created_at;
      return [event('notice', { id: messageId, subject: notice.subject.id, time }, notice)];
    }
    case 'digest': {
      const { type: _type, webhook_id: _webhook, ...issue } = message;
      return [event('digest', { id: messageId, subject: issue.digest_id, time: issue.to }, issue)];
    }
    case 'test':
      return [event('test', { id: messageId }, { webhook_id: message.webhook_id })];
  }
}
