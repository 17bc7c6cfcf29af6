import { randomUUID } from 'node:crypto';
import type { LocalRules } from '../local-rules.ts';
import type { UpstreamRules } from '../upstream-rules.ts';

/** Calls cost nothing here. */
const unlimited = { bucket: 'rules', calls: 1_000_000, windowMs: 1_000 };

/** Rules of a platform that does not match: a recorded slot is a registered rule. */
export function createBlueskyRules(local: LocalRules, sourceId: string): UpstreamRules {
  return {
    batchMax: 1_000,
    rulesPerCall: 1_000,
    limits: { read: unlimited, change: unlimited },
    list: async () => [...(await local.list(sourceId))],
    add: async (rules) => rules.map(() => ({ kind: 'added', id: randomUUID() })),
    remove: async () => undefined,
    room: async () => null,
  };
}
