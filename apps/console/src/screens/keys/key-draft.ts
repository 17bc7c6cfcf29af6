import type { Requests } from '@earshot/sdk';

type CreateKey = Requests['CreateKey'];
type Scope = NonNullable<CreateKey['scopes']>[number];
type Budget = NonNullable<CreateKey['budget']>;

/** What the form holds. */
export interface KeyDraft {
  readonly scopes: readonly Scope[];
  /** As a `datetime-local` field has it; empty: none. */
  readonly expires: string;
  /** As it was typed; empty: no budget. */
  readonly amount: string;
  readonly unit: 'usd' | 'matches';
  readonly period: Budget['period'];
  readonly on_reached: NonNullable<Budget['on_reached']>;
}

/** The API says what is wrong with it: what is no number is sent as none, and refused there. */
export function requestOf({ scopes, expires, amount, unit, period, on_reached }: KeyDraft): CreateKey {
  const value = Number(amount.trim().replace(',', '.'));
  return {
    scopes: [...scopes],
    ...(expires !== '' && { expires_at: new Date(expires).toISOString() }),
    ...(amount.trim() !== '' && { budget: { period, on_reached, [unit]: value } }),
  };
}

const known: Readonly<Record<Scope, true>> = {
  'rules:read': true,
  'rules:write': true,
  'matches:read': true,
  'readers:write': true,
  'keys:write': true,
  'audit:read': true,
  'webhooks:read': true,
  'webhooks:write': true,
};

/** Those of a session that this page knows. */
export function scopesOf(scopes: readonly string[]): Scope[] {
  return scopes.filter((scope): scope is Scope => Object.hasOwn(known, scope));
}
