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

// Object.keys forgets which names they are.
export const planNames = Object.keys(plans) as readonly Plan[];
export const scopeNames = Object.keys(scopes) as readonly Scope[];
