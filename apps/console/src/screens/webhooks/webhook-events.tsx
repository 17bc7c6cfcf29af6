import { useRules } from '../../api/rules.ts';
import { platformNames } from '../../parts/platforms.ts';
import type { Webhook } from './deliveries.ts';

/** Describes the events that the webhook sends. */
export function WebhookEvents({ webhook: { events, rule_ids, platform } }: { webhook: Webhook }) {
  const rules = useRules().data ?? [];
  const names = rule_ids?.map((rule_id) => rules.find(({ id }) => id === rule_id)?.name ?? rule_id);
  const matches = [
    'matches',
    ...(names === undefined ? [] : [`of ${names.join(', ')}`]),
    ...(platform === null ? [] : [`on ${platformNames[platform]}`]),
  ].join(' ');
  return events.map((event) => (event === 'matches' ? matches : event)).join(', ');
}
