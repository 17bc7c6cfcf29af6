import { useRules } from '../../api/rules.ts';
import { platformNames } from '../../parts/platforms.ts';
import type { Webhook } from './deliveries.ts';

/** Describes the events that the webhook sends. */
export function WebhookEvents({ webhook: { events, rule_id, platform } }: { webhook: Webhook }) {
  const rules = useRules().data ?? [];
  const rule = rule_id === null ? null : (rules.find(({ id }) => id === rule_id)?.name ?? rule_id);
  const matches = [
    'matches',
    ...(rule === null ? [] : [`of ${rule}`]),
    ...(platform === null ? [] : [`on ${platformNames[platform]}`]),
  ].join(' ');
  return events.map((event) => (event === 'matches' ? matches : event)).join(', ');
}
