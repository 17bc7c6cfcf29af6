import type { Admin } from '@earshot/server/admin';

type Plan = NonNullable<Parameters<Admin['createAccount']>[0]['plan']>;
type Scope = NonNullable<Parameters<Admin['createKey']>[0]['scopes']>[number];

// Records, so that a name which the server gains or loses does not compile here.
const plans: Readonly<Record<Plan, true>> = { free: true, paid: true };
const scopes: Readonly<Record<Scope, true>> = {
  'rules:read': true,
  'rules:write': true,
  'matches:read': true,
  'keys:write': true,
  'audit:read': true,
  'webhooks:read': true,
  'webhooks:write': true,
};

export const planNames: readonly string[] = Object.keys(plans);
export const scopeNames: readonly string[] = Object.keys(scopes);

export function readPlan(text = 'paid'): Plan {
  if (!isKey(plans, text)) throw new Error(`There is no plan "${text}". Plans: ${planNames.join(', ')}.`);
  return text;
}

/** All of them when nothing is given. */
export function readScopes(text = scopeNames.join(',')): Scope[] {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  if (names.length === 0) throw new Error(`A key needs a scope. Scopes: ${scopeNames.join(', ')}.`);
  return [...new Set(names)].map((name) => {
    if (!isKey(scopes, name))
      throw new Error(`There is no scope "${name}". Scopes: ${scopeNames.join(', ')}.`);
    return name;
  });
}

export function readExpiry(text: string | undefined, now: Date): Date | undefined {
  if (text === undefined) return undefined;
  const date = new Date(text);
  const day = text.slice(0, 10);
  // `Date` takes much else, in local time, and moves 30 February into March.
  const isDate =
    /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?Z)?$/.test(text) && !Number.isNaN(date.getTime());
  if (!isDate || date.toISOString().slice(0, 10) !== day) {
    throw new Error(`"${text}" is not a date such as 2027-01-01 or 2027-01-01T12:00:00Z.`);
  }
  if (date <= now) throw new Error(`${text} has passed already: the key would never work.`);
  return date;
}

function isKey<Name extends string>(record: Readonly<Record<Name, true>>, text: string): text is Name {
  return Object.hasOwn(record, text);
}
