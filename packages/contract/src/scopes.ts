/** What an API key may do. Each scope is needed by at least one operation. */
export const scopes = [
  'rules:read',
  'rules:write',
  'matches:read',
  'matches:label',
  'readers:write',
  'keys:write',
  'audit:read',
  'webhooks:read',
  'webhooks:write',
] as const;

export type Scope = (typeof scopes)[number];
