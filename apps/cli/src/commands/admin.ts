import { scopes as scopeNames } from '@earshot/contract/scopes';
import type { CommandGroup } from '../command.ts';
import { Failure } from '../failure.ts';
import { budget, flag, listOf, oneOf, required, text, time } from '../options.ts';
import { keyText } from '../output/key-text.ts';
import { accounts } from './admin-accounts.ts';
import { budgetCommand } from './admin-budget.ts';
import { adminCommand } from './admin-command.ts';
import { deadLetters } from './admin-dead-letters.ts';
import { foreignRules } from './admin-foreign-rules.ts';
import { forgetCommand } from './admin-forget.ts';
import { migrateCommand } from './admin-migrate.ts';
import { planNames, plansGroup } from './admin-plans.ts';
import { reencrypt, rotateCursorSecret } from './admin-rotation.ts';
import { adminUsage } from './admin-usage.ts';

const createAccount = adminCommand({
  name: 'create-account',
  summary: 'create an account',
  options: {
    name: required(text('<name>', 'name of the account, for people')),
    plan: oneOf(planNames, 'its plan (default paid)'),
  },
  examples: ['earshot admin create-account --name "Acme"'],
  async work(database, { options: { name, plan = 'paid' } }) {
    const { accountId } = await database.createAccount({ name, plan });
    return {
      json: { account_id: accountId, name, plan },
      text: `Created the account ${accountId} (${plan}). Create its first key with: earshot admin create-key --account ${accountId}`,
    };
  },
});

const createKey = adminCommand({
  name: 'create-key',
  summary: 'create a key for an account',
  options: {
    account: required(text('<account id>', 'as `earshot admin accounts list` shows it')),
    name: text('<name>', 'who or what uses the key, for people'),
    scopes: listOf(scopeNames, `any of ${scopeNames.join(', ')} (default all)`, '<scope,scope>'),
    expires: time('when the key stops working (default never)', 'future'),
    budget: budget('budget for all rules that it creates'),
  },
  examples: [
    'earshot admin create-key --account acc_01kb2m9x4c7q5t8w3y6z1v0n2p',
    'earshot admin create-key --account acc_01kb2m9x4c7q5t8w3y6z1v0n2p --scopes rules:read,matches:read --expires 2027-01-01',
  ],
  async work(
    database,
    { options: { account, name, expires = null, scopes = [...scopeNames], budget: spends } },
  ) {
    const created = await database.createKey({
      accountId: account,
      ...(name !== undefined && { name }),
      scopes,
      ...(expires !== null && { expiresAt: new Date(expires) }),
      ...(spends && { budget: spends }),
    });
    if (created === null) throw new Failure('notFound', `There is no account ${account}.`);
    const { keyId, key } = created;
    return {
      json: { key_id: keyId, key, account_id: account, scopes, expires_at: expires },
      text: keyText({ key, keyId, until: expires, scopes }),
    };
  },
});

const revokeKey = adminCommand({
  name: 'revoke-key',
  summary: 'revoke a key of any account',
  args: { key: required(text('<key id>', 'key_…')) },
  examples: ['earshot admin revoke-key key_01kb2m9x4c7q5t8w3y6z1v0n2p'],
  async work(database, { args: { key } }) {
    if (!(await database.revokeKey(key))) {
      throw new Failure('notFound', `There is no valid key ${key}. A key id starts with key_.`);
    }
    return {
      json: { key_id: key, revoked: true },
      text: `Key ${key} is revoked. Every node refuses it within 5 s.`,
    };
  },
});

const upstreamRules = adminCommand({
  name: 'upstream-rules',
  summary: 'show rules with their ids on the platforms',
  options: { rule: text('<rule id>', 'only this rule (default the newest 1,000)') },
  examples: ['earshot admin upstream-rules --rule rule_01kb2m9x4c7q5t8w3y6z1v0n2p'],
  async work(database, { options: { rule = null } }) {
    const rules = await database.listUpstreamRules(rule);
    if (rule !== null && rules.length === 0)
      throw new Failure('notFound', `No platform has a rule for ${rule}: it is paused, deleted or unknown.`);
    const lines = rules.map((one) =>
      [one.rule_id, one.source_id, one.upstream_rule_id ?? '-', one.state, one.value].join('  '),
    );
    return { json: rules, text: lines.join('\n') || 'No platform has a rule.' };
  },
});

const afterRestore = adminCommand({
  name: 'after-restore',
  summary: 'record what Earshot cannot detect after PostgreSQL or NATS was restored',
  details:
    'Run it while all nodes are stopped. Without an option, the match log starts a new incarnation, which happens automatically on another PostgreSQL server.',
  options: {
    'log-lost': flag(
      'the event log is lost: accept the log that NATS has now, or create one; unmatched events become a gap',
    ),
    copy: flag(
      'this database is a copy: leave the upstream rules of the original alone, and pause the webhooks',
    ),
  },
  examples: ['earshot admin after-restore --log-lost', 'earshot admin after-restore --copy'],
  async work(database, { options: { 'log-lost': logLost, copy: isCopy } }) {
    const { webhooksPaused } = await database.afterRestore({ logLost, isCopy });
    const lines = [
      'A new incarnation of the match log starts with the next match.',
      ...(logLost || isCopy ? ['The next event log is accepted. Unmatched events become a gap.'] : []),
      ...(isCopy ? [`This is now a separate installation. ${webhooksPaused} webhooks are paused.`] : []),
    ];
    return {
      json: { log_lost: logLost, copy: isCopy, webhooks_paused: webhooksPaused },
      text: [...lines, 'Start the nodes.'].join('\n'),
    };
  },
});

export const admin: CommandGroup = {
  name: 'admin',
  summary: 'manage accounts, keys, budgets, migrations and restores, directly on the database',
  commands: [
    createAccount,
    accounts,
    plansGroup,
    createKey,
    revokeKey,
    budgetCommand,
    upstreamRules,
    foreignRules,
    deadLetters,
    forgetCommand,
    adminUsage,
    migrateCommand,
    afterRestore,
    reencrypt,
    rotateCursorSecret,
  ],
};
