import type { Notice } from '@earshot/sdk';
import type { StandingKind } from '../../parts/standing-kind.ts';

const titles: Readonly<Record<Notice['type'], string>> = {
  'budget.threshold': 'Much of a budget is spent',
  'budget.reached': 'A budget is spent',
  'budget.forecast': 'A budget will be spent before its period ends',
  'rate.unusual': 'Far more matches than usual',
  'coverage.gap': 'There was a gap in the coverage',
  'coverage.repaired': 'A gap in the coverage was filled',
  'source.action_required': 'A source is not listening',
  'rule.paused': 'The rule was paused',
  'rule.expired': 'The rule has expired',
  'rule.refused': 'A platform refuses the rule',
  'webhook.failing': 'The endpoint is failing',
  'webhook.disabled': 'The webhook is disabled',
  'digest.failing': 'The digest cannot be sent',
  'digest.given_up': 'An issue of the digest was not sent',
};

/** A type that is newer than this page is shown as it is. */
export function noticeTitle(type: string): string {
  return Object.hasOwn(titles, type) ? titles[type as Notice['type']] : type;
}

export const severityWords: Readonly<Record<Notice['severity'], string>> = {
  critical: 'Critical',
  warning: 'Warning',
  info: 'Information',
};

export function standingOfNotice({ severity, resolved_at }: Notice): StandingKind {
  if (resolved_at !== null) return 'idle';
  return severity === 'critical' ? 'bad' : severity === 'warning' ? 'warn' : 'idle';
}

const kindPaths: Readonly<Record<Notice['subject']['kind'], (id: string) => string>> = {
  account: () => '/cost',
  key: () => '/keys',
  platform: () => '/coverage',
  rule: (id) => `/rules/${encodeURIComponent(id)}`,
  source: () => '/sources',
  webhook: (id) => `/webhooks/${encodeURIComponent(id)}`,
  digest: () => '/notices',
};

/** Where more is to be seen of what the notice is about. */
export function subjectPath({ type, subject: { kind, id } }: Pick<Notice, 'type' | 'subject'>): string {
  if (type.startsWith('coverage.')) return '/coverage';
  if (type.startsWith('budget.') && kind === 'rule') return `/cost?rule=${encodeURIComponent(id)}`;
  return Object.hasOwn(kindPaths, kind) ? kindPaths[kind](id) : '/notices';
}
