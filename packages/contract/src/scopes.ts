/** What an API key may do. A scope enters this list together with the first operation that asks for it. */
export const scopes = [
  'rules:read',
  'rules:write',
  'matches:read',
  'keys:write',
  'audit:read',
  'webhooks:read',
  'webhooks:write',
] as const;

export type Scope = (typeof scopes)[number];
