import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';

/** Reports webhooks and digests. */
export function webhookTelemetry(log: Logger, metrics: Metrics) {
  return {
    webhookFirstTried(waitedMs: number) {
      metrics.webhookWaitSeconds.observe(Math.max(0, waitedMs) / 1000);
    },
    /** `isRepeated` marks one of many consecutive failures. */
    webhookAttempted({
      isRepeated,
      ...attempt
    }: {
      isRepeated: boolean;
      webhookId: string;
      accountId: string;
      outcome: string;
      status: number | null;
      matches: number;
      parked: number;
      ms: number;
    }) {
      metrics.webhookAttempts.inc({ outcome: attempt.outcome });
      metrics.webhookAttemptSeconds.observe(attempt.ms / 1000);
      metrics.webhookMatchesParked.inc(attempt.parked);
      log[attempt.outcome === 'delivered' || isRepeated ? 'debug' : 'info'](attempt, 'webhook attempt');
    },
    digestAttempted(attempt: {
      digestId: string;
      accountId: string;
      number: number;
      outcome: 'sent' | 'failed' | 'given_up';
      failures: number;
      matches: number;
      problem: string | null;
    }) {
      metrics.digestAttempts.inc({ outcome: attempt.outcome });
      log[attempt.outcome === 'given_up' ? 'warn' : 'info'](attempt, 'digest attempt');
    },
    webhookDisabled(webhook: { webhookId: string; accountId: string; reason: 'gone' | 'failing' }) {
      metrics.webhooksDisabled.inc({ reason: webhook.reason });
      log.warn(webhook, 'webhook disabled');
    },
    webhookSecretsChecked({ webhooks, unreadable }: { webhooks: number; unreadable: readonly string[] }) {
      metrics.webhookSecretsUnreadable.set(unreadable.length);
      if (unreadable.length === 0) return;
      log.warn(
        { webhooks, unreadable: unreadable.length, webhookIds: unreadable.slice(0, 10) },
        'webhook secrets cannot be read with EARSHOT_SECRETS_KEY; nothing is sent to these webhooks',
      );
    },
    webhookSecretUnreadable(webhook: { webhookId: string; err: unknown }) {
      log.error(
        webhook,
        'a webhook secret cannot be decrypted; check that EARSHOT_SECRETS_KEY is the key that encrypted it',
      );
    },
  };
}
