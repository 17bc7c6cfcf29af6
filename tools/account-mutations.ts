import { inFile, type Mutation } from './mutation.ts';

const server = 'apps/server/src';

/** Suspended and deleted accounts, and budgets of keys. */
export const accountMutations: readonly Mutation[] = [
  ...inFile(
    `${server}/removals/delete-account.ts`,
    ['apps/server/test/delete-account.int.test.ts'],
    [
      ['a deletion does not wait for the platforms', 'if (waiting.length === 0) break;', 'break;'],
      [
        'the bill loses what a deleted account bore',
        "table === 'bill_shares' ? giveUpShares",
        "table === '' ? giveUpShares",
      ],
      ['rows go all at once', 'const rowsAtOnce = 5_000;', 'const rowsAtOnce = 1_000_000;'],
    ],
  ),
  ...inFile(
    `${server}/removals/delete-account.ts`,
    ['e2e/delete-account.e2e.test.ts'],
    [
      [
        'deliveries of a deleted account stay',
        "let rows = await remove('deliveries', deleteDeliveries);",
        'let rows = 0;',
      ],
    ],
  ),
  ...inFile(
    `${server}/accounts/keys.ts`,
    ['apps/server/test/key-budgets.int.test.ts'],
    [
      [
        'a key with a budget makes a key with another one',
        "if (budget && asker.spends_from !== null) return { kind: 'asker_has_budget' };",
        '',
      ],
    ],
  ),
  ...inFile(
    `${server}/budgets/assert-affordable.ts`,
    ['apps/server/test/key-budgets.int.test.ts'],
    [
      [
        'a key with a budget spends those of others',
        'if (spending.otherBudget) throw otherSpender(spending.otherBudget);',
        '',
      ],
      [
        'rules start while a budget is spent',
        "if (change.kind === 'start') await assertNotReached(options, subjects);",
        '',
      ],
    ],
  ),
  ...inFile(
    `${server}/accounts/authenticate.ts`,
    ['e2e/accounts.e2e.test.ts'],
    [['keys of suspended accounts are accepted', 'if (principal.isSuspended) throw accountSuspended();', '']],
  ),
  ...inFile(
    `${server}/rules/expiry.ts`,
    ['e2e/accounts.e2e.test.ts'],
    [
      [
        'rules of suspended accounts go on',
        'where suspended_at is not null and ${canPause}',
        'where false and ${canPause}',
      ],
    ],
  ),
  ...inFile(
    `${server}/webhooks/delivery-store.sql.ts`,
    ['e2e/accounts.e2e.test.ts'],
    [
      [
        'webhooks of suspended accounts go on',
        'and account_id not in (select accounts.id from accounts where suspended_at is not null)',
        '',
      ],
    ],
  ),
];
