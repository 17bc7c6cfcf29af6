import type { Admin } from '@earshot/server/admin';
import type { CommandGroup, Option } from '../command.ts';
import { usageFailure } from '../failure.ts';
import { oneOf, required } from '../options.ts';
import { renderTable } from '../output/table.ts';
import { adminCommand } from './admin-command.ts';

type PlanRow = Awaited<ReturnType<Admin['listPlans']>>[number];
type Limits = Parameters<Admin['setPlanLimits']>[1];
export type Limit = keyof Limits;

// Records, so that the types enforce one entry for each plan and limit of the server.
const plans: Readonly<Record<PlanRow['name'], true>> = { free: true, paid: true };
export const limitKinds: Readonly<Record<Limit, { readonly about: string; readonly min: number }>> = {
  rules: { about: 'rules on x', min: 0 },
  requests: { about: 'requests per minute of one key', min: 1 },
  changes: { about: 'changes per minute', min: 1 },
  keys: { about: 'keys', min: 1 },
  webhooks: { about: 'webhooks', min: 0 },
  readers: { about: 'named readers', min: 1 },
  digests: { about: 'digests', min: 0 },
  mails: { about: 'mails per UTC day', min: 0 },
  counts: { about: 'requests for X’s counts, for estimates, per UTC day', min: 0 },
};
export const limitMax = 1_000_000;

// Object.keys loses the literal types.
export const planNames = Object.keys(plans) as readonly PlanRow['name'][];
export const limitNames = Object.keys(limitKinds) as readonly Limit[];

/** `rules=5,requests=100` */
export const planLimits: Option<Limits | undefined> = {
  about: `new limits, any of ${limitNames.join(', ')}: rules=5,requests=100`,
  placeholder: '<limit=n,…>',
  read: (given) => (given === undefined ? undefined : Object.fromEntries(given.split(',').map(readLimit))),
};

function readLimit(pair: string): [Limit, number] {
  const [given = '', value = ''] = pair.split('=').map((part) => part.trim());
  const name = limitNames.find((one) => one === given);
  if (name === undefined)
    throw usageFailure(
      `takes limits such as rules=5, not "${pair}". The limits are ${limitNames.join(', ')}.`,
    );
  const { min } = limitKinds[name];
  if (!/^\d{1,9}$/.test(value) || Number(value) < min || Number(value) > limitMax)
    throw usageFailure(`takes a whole number from ${min} to ${limitMax} for ${name}, not "${value}".`);
  return [name, Number(value)];
}

const plain = { paint: (_: unknown, words: string) => words };
const tableOf = (rows: readonly PlanRow[]) =>
  renderTable(
    ['PLAN', ...limitNames.map((name) => name.toUpperCase())],
    rows.map((row) => [row.name, ...limitNames.map((name) => String(row[name]))]),
    plain,
  );

const list = adminCommand({
  name: 'list',
  summary: 'list the plans with their limits',
  details: 'Requests are per minute of one key, changes per minute, mails and counts per UTC day.',
  examples: ['earshot admin plans list'],
  async work(database) {
    const rows = await database.listPlans();
    return { json: { plans: rows }, text: tableOf(rows) };
  },
});

const set = adminCommand({
  name: 'set',
  summary: 'change limits of a plan',
  details:
    'Takes effect within 5 s. Accounts above a new limit keep what they have, but cannot add anything. `earshot admin accounts limits` overrides a plan.',
  args: { plan: required(oneOf(planNames, 'the plan')), limits: required(planLimits) },
  examples: ['earshot admin plans set free rules=5,requests=100'],
  async work(database, { args: { plan, limits } }) {
    const row = await database.setPlanLimits(plan, limits);
    return { json: row, text: tableOf([row]) };
  },
});

export const plansGroup: CommandGroup = {
  name: 'plans',
  summary: 'plans and their limits',
  commands: [list, set],
};
