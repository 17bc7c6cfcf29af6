import { formatBudget } from '@earshot/contract/budgets';
import type { Admin } from '@earshot/server/admin';
import type { CommandGroup, Option } from '../command.ts';
import { Failure, usageFailure } from '../failure.ts';
import { integer, oneOf, required, text } from '../options.ts';
import { renderFields, renderTable } from '../output/table.ts';
import { deleteCommand } from './admin-accounts-delete.ts';
import { adminCommand } from './admin-command.ts';
import { type Limit, limitKinds, limitMax, limitNames, planNames } from './admin-plans.ts';

type Account = Awaited<ReturnType<Admin['listAccounts']>>[number];
const plain = { paint: (_: unknown, words: string) => words };
const account = { account: required(text('<account id>', 'as `earshot admin accounts list` shows it')) };
const example = 'acc_01kb2m9x4c7q5t8w3y6z1v0n2p';
const noAccount = (id: string) => new Failure('notFound', `There is no account ${id}.`);
const days = integer('<n>', 'matches and dollars of the last UTC days, today included (default 2)', {
  min: 1,
  max: 400,
});

function stateOf({ deletion_begun_at, suspended_at }: Account): string {
  if (deletion_begun_at) return 'being deleted';
  return suspended_at ? 'suspended' : 'active';
}

const rulesOf = ({ rules_active, rules_paused }: Account) =>
  rules_paused === 0 ? String(rules_active) : `${rules_active} + ${rules_paused} paused`;
const dollarsOf = ({ usd }: Account) =>
  usd.min === usd.max ? usd.max.toFixed(2) : `${usd.min.toFixed(2)}–${usd.max.toFixed(2)}`;

const list = adminCommand({
  name: 'list',
  summary: 'list all accounts with their resources and usage',
  details: 'Dollars are shares of the bill: see `earshot admin usage`.',
  options: { days },
  examples: ['earshot admin accounts list', 'earshot admin accounts list --days 30 --json'],
  async work(database, { options: { days: count = 2 } }, { env }) {
    const accounts = await database.listAccounts({ days: count, prices: env['EARSHOT_PRICES'] });
    const cells = accounts.map((one) => [
      one.id,
      one.plan,
      stateOf(one),
      rulesOf(one),
      String(one.keys),
      String(one.matches),
      dollarsOf(one),
      one.name,
    ]);
    const headings = ['ID', 'PLAN', 'STATE', 'RULES', 'KEYS', 'MATCHES', '$', 'NAME'];
    return {
      json: { days: count, accounts: accounts.map(toJson) },
      text: renderTable(headings, cells, plain),
    };
  },
});

function toJson(found: Account): object {
  return { ...found, state: stateOf(found) };
}

const show = adminCommand({
  name: 'show',
  summary: 'show an account',
  args: account,
  options: { days },
  examples: [`earshot admin accounts show ${example}`],
  async work(database, { args: { account: id }, options: { days: count = 2 } }, { env }) {
    const [found] = await database.listAccounts({
      accountId: id,
      days: count,
      prices: env['EARSHOT_PRICES'],
    });
    if (!found) throw noAccount(id);
    const fields = renderFields(
      [
        ['id', found.id],
        ['name', found.name],
        ['plan', found.plan],
        ['state', stateOf(found)],
        ['suspended', found.suspended_at?.toISOString()],
        ['created', found.created_at.toISOString()],
        ['rules', rulesOf(found)],
        ['keys', String(found.keys)],
        ['webhooks', String(found.webhooks)],
        ['readers', String(found.readers)],
        ['budget', found.budget && formatBudget(found.budget)],
        ['limits', limitsText(found.limits)],
        ['matches', `${found.matches} (${count} UTC days)`],
        ['dollars', `${dollarsOf(found)} (${count} UTC days)`],
      ],
      plain,
    );
    return { json: toJson(found), text: fields };
  },
});

const plan = adminCommand({
  name: 'plan',
  summary: 'change the plan of an account',
  details: 'Takes effect within 5 s. What is above the new limits stays, but nothing can be added.',
  args: { ...account, plan: required(oneOf(planNames, 'its new plan')) },
  examples: [`earshot admin accounts plan ${example} paid`],
  async work(database, { args: { account: id, plan: wanted } }) {
    if (!(await database.setPlan(id, wanted))) throw noAccount(id);
    return { json: { account_id: id, plan: wanted }, text: `${id} is on the plan ${wanted}.` };
  },
});

function limitsText(limits: Account['limits']): string {
  const own = limitNames.flatMap((name) => (limits[name] === undefined ? [] : [`${name} ${limits[name]}`]));
  return own.join(', ') || 'as in the plan';
}

/** An option with a number, or with null for the limit of the plan. */
function override({ about, min }: (typeof limitKinds)[Limit]): Option<number | null | undefined> {
  const number = integer('<n>', '', { min, max: limitMax });
  return {
    about,
    placeholder: '<n|plan>',
    read: (given, now) => (given === 'plan' ? null : number.read(given, now)),
  };
}

const overrides = Object.fromEntries(
  limitNames.map((name) => [name, override(limitKinds[name])]),
) as Readonly<Record<Limit, Option<number | null | undefined>>>;

const limits = adminCommand({
  name: 'limits',
  summary: 'show or set limits of one account that differ from its plan',
  details: 'A limit is a number, or `plan` for the limit of the plan.',
  args: account,
  options: overrides,
  examples: [
    `earshot admin accounts limits ${example} --rules 200 --requests 3000`,
    `earshot admin accounts limits ${example} --rules plan`,
  ],
  async work(database, { args: { account: id }, options }) {
    const named = limitNames.filter((name) => options[name] !== undefined);
    if (named.length === 0) {
      const [found] = await database.listAccounts({ accountId: id, days: 1 });
      if (!found) throw noAccount(id);
      return { json: toJson(found), text: `${id}: ${limitsText(found.limits)}.` };
    }
    const set = await database.setLimits(id, Object.fromEntries(named.map((name) => [name, options[name]])));
    if (set === null) throw noAccount(id);
    return { json: { account_id: id, limits: set }, text: `${id}: ${limitsText(set)}.` };
  },
});

const suspend = adminCommand({
  name: 'suspend',
  summary: 'suspend an account: refuse its keys, pause its rules, and send nothing to its webhooks',
  details: 'Takes effect within 5 s. Stored data is kept.',
  args: account,
  examples: [`earshot admin accounts suspend ${example}`],
  async work(database, { args: { account: id } }) {
    if (!(await database.suspendAccount(id))) throw noAccount(id);
    return {
      json: { account_id: id, state: 'suspended' },
      text: `${id} is suspended. The nodes pause its rules: earshot admin accounts show ${id}`,
    };
  },
});

const resume = adminCommand({
  name: 'resume',
  summary: 'resume a suspended account',
  details:
    'Its keys work at once. Rules that were active are registered again, usually within seconds. The suspension is a gap. Webhooks continue where they stopped.',
  args: account,
  examples: [`earshot admin accounts resume ${example}`],
  async work(database, { args: { account: id } }) {
    const [found] = await database.listAccounts({ accountId: id, days: 1 });
    if (found?.deletion_begun_at) throw usageFailure(`${id} is being deleted.`);
    if (!(await database.resumeAccount(id))) throw noAccount(id);
    return {
      json: { account_id: id, state: 'active' },
      text: `${id} is active. The nodes resume its rules: earshot admin accounts show ${id}`,
    };
  },
});

export const accounts: CommandGroup = {
  name: 'accounts',
  summary: 'list, suspend, resume and delete accounts; change their plans and limits',
  commands: [list, show, plan, limits, suspend, resume, deleteCommand],
};
