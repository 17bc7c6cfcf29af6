import { formatBudget } from '@earshot/contract/budgets';
import { Failure } from '../failure.ts';
import { budgetOrNone, required, text } from '../options.ts';
import { adminCommand } from './admin-command.ts';

export const budgetCommand = adminCommand({
  name: 'budget',
  summary: 'show or set the budget for all rules of an account',
  details: 'Rules that the old budget paused resume within seconds if the new one is not reached.',
  args: { account: required(text('<account id>', 'as `earshot admin accounts list` shows it')) },
  options: { set: budgetOrNone('new budget') },
  examples: [
    'earshot admin budget acc_01kb2m9x4c7q5t8w3y6z1v0n2p',
    'earshot admin budget acc_01kb2m9x4c7q5t8w3y6z1v0n2p --set usd=100/month',
  ],
  async work(database, { args: { account }, options: { set } }) {
    const found =
      set === undefined ? await database.readBudget(account) : await database.setBudget(account, set);
    if (found === null) throw new Failure('notFound', `There is no account ${account}.`);
    const { budget } = found;
    return {
      json: { account_id: account, budget },
      text: budget ? `${account} may spend ${formatBudget(budget)}.` : `${account} has no budget.`,
    };
  },
});
