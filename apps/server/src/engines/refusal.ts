import type { Sql, Transactions } from './database.ts';

/** Rolls the transaction back and carries the reason out of it. */
class Refusal extends Error {}

/** A transaction whose work may refuse: then nothing of it remains, and the reason is the result. */
export async function refusable<Outcome extends object>(
  database: Transactions,
  work: (sql: Sql, refuse: (outcome: Outcome) => never) => Promise<Outcome>,
): Promise<Outcome> {
  let refused: Outcome | null = null;
  const refuse = (outcome: Outcome): never => {
    refused = outcome;
    throw new Refusal('refused');
  };
  try {
    return await database.transaction((sql) => work(sql, refuse));
  } catch (error) {
    if (error instanceof Refusal && refused !== null) return refused;
    throw error;
  }
}
