import type { Requests } from '@earshot/sdk';

type CreateKey = Requests['CreateKey'];
type Scope = NonNullable<CreateKey['scopes']>[number];
type Budget = NonNullable<CreateKey['budget']>;

/** The state of the form. */
export interface KeyDraft {
  /** Empty for none. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** The value of a `datetime-local` field; empty for none. */
  readonly expires: string;
  /** As typed; empty for no budget. */
  readonly amount: string;
  readonly unit: 'usd' | 'matches';
  readonly period: Budget['period'];
  readonly on_reached: NonNullable<Budget['on_reached']>;
}

/** Does not validate: an amount that is not a number is sent as NaN, so that the API reports it. */
export function requestOf({ name, scopes, expires, amount, unit, period, on_reached }: KeyDraft): CreateKey {
  const value = Number(amount.trim().replace(',', '.'));
  return {
    ...(name.trim() !== '' && { name: name.trim() }),
    scopes: [...scopes],
    ...(expires !== '' && { expires_at: new Date(expires).toISOString() }),
    ...(amount.trim() !== '' && { budget: { period, on_reached, [unit]: value } }),
  };
}

const known: Readonly<Record<Scope, true>> = {
  'rules:read': true,
  'rules:write': true,
  'matches:read': true,
  'matches:label': true,
  'readers:write': true,
  'keys:write': true,
  'audit:read': true,
  'webhooks:read': true,
  'webhooks:write': true,
};

/** The scopes that this version of the console knows. */
export function scopesOf(scopes: readonly string[]): Scope[] {
  return scopes.filter((scope): scope is Scope => Object.hasOwn(known, scope));
}
