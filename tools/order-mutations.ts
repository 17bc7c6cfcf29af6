import { inFile, type Mutation } from './mutation.ts';

/** Of the order in which matches become visible. */
export const orderMutations: readonly Mutation[] = inFile(
  'apps/server/migrations/0028_ordered_commits.sql',
  ['apps/server/test/ordered-commits.int.test.ts'],
  [
    [
      'a writer waits only for the one before it',
      'own_ticket - 1, (select ticket + 1 from match_log), -1',
      'own_ticket - 1, own_ticket - 1, -1',
    ],
    ['a cancelled writer keeps the others out', 'when others or query_canceled then', 'when others then'],
    ['every writer jumps ahead', 'if jump <> (select last_value from match_jump) then', 'if true then'],
    [
      'a jump is taken for done that another server has made',
      `format('%s %L %s', this_server(), log.server, log.last_position)`,
      `'1'`,
    ],
  ],
);
