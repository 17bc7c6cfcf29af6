/** Examples of the operations on keys and on the audit: see examples.ts. */
const createKey = {
  request: { scopes: ['rules:read', 'matches:read'], expires_at: '2027-11-14T00:00:00.000Z' },
  answer: {
    key_id: 'key_01kb2n0a4c7q5t8w3y6z1v0n2p',
    key: 'esk_…',
    display: 'esk_4f9K…x2Lq',
    scopes: ['rules:read', 'matches:read'],
    created_at: '2026-11-14T22:46:00.000Z',
    expires_at: '2027-11-14T00:00:00.000Z',
  },
} as const;

const listKeys = {
  request: {},
  answer: {
    keys: [
      {
        id: 'key_01kb2n0a4c7q5t8w3y6z1v0n2p',
        display: 'esk_4f9K…x2Lq',
        scopes: ['rules:read', 'matches:read'],
        created_at: '2026-11-14T22:46:00.000Z',
        expires_at: '2027-11-14T00:00:00.000Z',
        last_used_at: null,
      },
    ],
  },
} as const;

const revokeKey = {
  request: { key_id: 'key_01kb2n0a4c7q5t8w3y6z1v0n2p' },
  answer: { key_id: 'key_01kb2n0a4c7q5t8w3y6z1v0n2p', revoked_at: '2026-11-15T08:00:00.000Z' },
} as const;

const listAudit = {
  request: { limit: 50 },
  answer: {
    entries: [
      {
        id: 'aud_01kb2n0a4c7q5t8w3y6z1v0n2p',
        created_at: '2026-11-14T22:46:00.000Z',
        actor: 'key_01kb2m0a4c7q5t8w3y6z1v0n2p',
        operation: 'CreateRule',
        target_id: 'rule_01kb2m9x4c7q5t8w3y6z1v0n2p',
        before: null,
        after: { name: 'Rust release chatter', state: 'active' },
        request_id: 'req_01kb2mp8r4t7v1x5z9b3c6d0fg',
      },
    ],
    next_cursor: null,
  },
} as const;

export const accountExamples = { createKey, listKeys, revokeKey, listAudit };
