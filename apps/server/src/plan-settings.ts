import { z } from 'zod';
import * as accepted from './setting-values.ts';

/** What an account of each plan may have: a part of the table in settings.ts. */
export const planSettings = {
  premiumRulesMax: {
    variable: 'EARSHOT_PREMIUM_RULES_MAX',
    schema: accepted.count.default(1_000),
    about:
      'Rules on `x` that one account on a paid plan may have, if its share (`EARSHOT_ACCOUNT_SHARE_PERCENT`) of what X takes is not smaller.',
  },
  freePremiumRulesMax: {
    variable: 'EARSHOT_FREE_PREMIUM_RULES_MAX',
    schema: z.coerce.number().int().min(0).default(3),
    about: 'Rules on `x` that one account on the free plan may have.',
  },
  requestsPerMinute: {
    variable: 'EARSHOT_REQUESTS_PER_MINUTE',
    schema: accepted.count.default(600),
    about:
      'Requests per minute of one key on a paid plan; all keys of an account together get twice as many. Each node counts for itself: N nodes allow N times.',
  },
  freeRequestsPerMinute: {
    variable: 'EARSHOT_FREE_REQUESTS_PER_MINUTE',
    schema: accepted.count.default(60),
    about: 'The same on the free plan.',
  },
  changesPerMinute: {
    variable: 'EARSHOT_CHANGES_PER_MINUTE',
    schema: accepted.count.default(120),
    about: 'Changes of rules and keys per minute of one account on a paid plan, counted by each node.',
  },
  freeChangesPerMinute: {
    variable: 'EARSHOT_FREE_CHANGES_PER_MINUTE',
    schema: accepted.count.default(12),
    about: 'The same on the free plan.',
  },
  keysMax: {
    variable: 'EARSHOT_KEYS_MAX',
    schema: accepted.count.default(100),
    about: 'Keys that one account on a paid plan may have. `earshot admin` is not bound by it.',
  },
  freeKeysMax: {
    variable: 'EARSHOT_FREE_KEYS_MAX',
    schema: accepted.count.default(5),
    about: 'The same on the free plan.',
  },
  webhooksMax: {
    variable: 'EARSHOT_WEBHOOKS_MAX',
    schema: accepted.count.default(100),
    about: 'Webhooks that one account on a paid plan may have.',
  },
  freeWebhooksMax: {
    variable: 'EARSHOT_FREE_WEBHOOKS_MAX',
    schema: z.coerce.number().int().min(0).default(2),
    about: 'The same on the free plan.',
  },
  readersMax: {
    variable: 'EARSHOT_READERS_MAX',
    schema: accepted.count.default(100),
    about: 'Named readers that one account on a paid plan may have.',
  },
  freeReadersMax: {
    variable: 'EARSHOT_FREE_READERS_MAX',
    schema: accepted.count.default(5),
    about: 'The same on the free plan.',
  },
} as const satisfies Record<string, accepted.Setting>;
