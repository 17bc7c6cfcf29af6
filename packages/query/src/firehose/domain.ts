import { spend } from '../budget.ts';

/** Second-level names under which domains are registered, for finding the registrable domain of a host. */
const sharedSecondLevels = new Set([
  'ac',
  'co',
  'com',
  'edu',
  'gob',
  'gov',
  'govt',
  'ltd',
  'ne',
  'net',
  'nhs',
  'nom',
  'or',
  'org',
  'plc',
  'sch',
]);

export interface DomainValues {
  /** Certain values of the `domain` field, nearest first: host, host without `www.`, registrable domain. */
  readonly sure: readonly string[];
  /** Parents in between; whether they are values too is not documented (firehose.md §13.1). */
  readonly possible: readonly string[];
}

/** Of DNS. */
const hostLengthMax = 253;

const none: DomainValues = { sure: [], possible: [] };

export function domainValues(url: string): DomainValues {
  spend(url.length);
  const host = hostOf(url);
  if (host === null || host.length > hostLengthMax) return none;
  const bare = host.startsWith('www.') ? host.slice(4) : host;
  if (!host.includes('.') || /^[0-9.]+$|^\[/.test(host)) return { sure: [host], possible: [] };
  const labels = bare.split('.');
  const registrableLabels = isSharedSuffix(labels) ? 3 : 2;
  const parents: string[] = [];
  for (let from = 1; from <= labels.length - registrableLabels; from += 1)
    parents.push(labels.slice(from).join('.'));
  const registrable = parents.pop();
  const sure = [...new Set([host, bare, ...(registrable === undefined ? [] : [registrable])])];
  return { sure, possible: parents };
}

function hostOf(url: string): string | null {
  const parsed = URL.parse(url);
  return parsed === null || parsed.hostname === '' ? null : parsed.hostname.replace(/\.$/, '');
}

function isSharedSuffix(labels: readonly string[]): boolean {
  const [second = '', first = ''] = labels.slice(-2);
  return first.length === 2 && sharedSecondLevels.has(second);
}
