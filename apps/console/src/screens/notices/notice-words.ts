import type { Notice } from '@earshot/sdk';
import { platformNames } from '../../parts/platforms.ts';
import type { StatusKind } from '../../parts/status-kind.ts';

const titles: Readonly<Record<Notice['type'], string>> = {
  'budget.threshold': 'A large part of a budget is spent',
  'budget.reached': 'A budget is reached',
  'budget.forecast': 'A budget will probably not last its period',
  'rate.unusual': 'Far more matches than usual',
  'alert.spike': 'A rule suddenly gets more matches',
  'alert.drop': 'A rule has fallen silent',
  'alert.recovered': 'A rule is back to its usual rate',
  'coverage.gap': 'The coverage has a gap',
  'coverage.repaired': 'A gap in the coverage was repaired',
  'source.action_required': 'A source needs action',
  'source.disconnected': 'A source is disconnected',
  'rule.paused': 'The rule was paused',
  'rule.expired': 'The rule has expired',
  'rule.refused': 'A platform refuses the rule',
  'webhook.failing': 'The endpoint is failing',
  'webhook.disabled': 'The webhook is disabled',
  'digest.failing': 'The digest cannot be sent',
  'digest.given_up': 'A digest message was not sent',
  'archive.failing': 'The archive cannot be written',
  'judge.drift': 'The judge agrees with fewer labels than before',
};

/** A type that this version does not know is shown as it is. */
export function noticeTitle({ type, data }: Pick<Notice, 'type' | 'data'>): string {
  const { spent, limit } = data;
  if (type === 'budget.reached' && typeof spent === 'number' && typeof limit === 'number')
    return spent < limit ? 'Paused early for a budget' : 'A budget is spent';
  return Object.hasOwn(titles, type) ? titles[type] : type;
}

/** What the items of an alert have in common. Untrusted. */
export function alertFacts(data: Notice['data']): Array<{ name: string; values: string[] }> {
  const factOf = (name: string, value: unknown) => {
    const values = Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
    return values.length > 0 ? [{ name, values }] : [];
  };
  return [...factOf('Common words', data['top_words']), ...factOf('Common sites', data['top_domains'])];
}

export const severityWords: Readonly<Record<Notice['severity'], string>> = {
  critical: 'Critical',
  warning: 'Warning',
  info: 'Information',
};

export function statusOfNotice({ severity, resolved_at }: Notice): StatusKind {
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
  archive: () => '/notices',
};

/** The page with details about the subject of the notice. */
export function subjectPath({ type, subject: { kind, id } }: Pick<Notice, 'type' | 'subject'>): string {
  if (type.startsWith('coverage.')) return '/coverage';
  if (type.startsWith('alert.') && kind === 'rule') return `/feed?rule=${encodeURIComponent(id)}`;
  if (type.startsWith('budget.') && kind === 'rule') return `/cost?rule=${encodeURIComponent(id)}`;
  return Object.hasOwn(kindPaths, kind) ? kindPaths[kind](id) : '/notices';
}

/** The subject by name. A platform's name is its identifier, and sources of two platforms may have the same name. */
export function subjectName({ kind, id, name }: Notice['subject']): string {
  const [platform] = Object.entries(platformNames).filter(([known]) => id.split(':')[0] === known);
  if (kind === 'platform') return platform?.[1] ?? name;
  return kind === 'source' && platform ? `${platform[1]} ${name}` : name;
}
