import { parseArgs } from 'node:util';
import { openAdmin } from '@earshot/server/admin';
import type { Command } from '../command.ts';
import { deadLettersWork } from './admin-dead-letters.ts';
import { planNames, readExpiry, readPlan, readScopes, scopeNames } from './admin-values.ts';
import type { Outcome, Work } from './admin-work.ts';

const usage = `Usage: earshot admin create-account --name <name> [--plan <plan>]
       earshot admin create-key --account <account id> [--scopes <scope,scope>] [--expires <date>]
       earshot admin revoke-key <key id>
       earshot admin dead-letters list
       earshot admin dead-letters retry <id> | --all

Accounts, keys and events that could not be stored, directly on the database.

  --name          name of the account, for people
  --plan          ${planNames.join(' or ')} (default paid)
  --account       id of the account, as create-account printed it
  --scopes        any of ${scopeNames.join(', ')} (default all)
  --expires       when the key stops working, as 2027-01-01 or 2027-01-01T12:00:00Z (default never)
  --database-url  the PostgreSQL of the installation (default: the variable EARSHOT_DATABASE_URL)
  --all           every dead letter
  --json          the result as one line of JSON

Examples:
  pnpm earshot admin create-account --name "Acme"
  pnpm earshot admin create-key --account acc_… --scopes rules:read,matches:read --expires 2027-01-01
  pnpm earshot admin revoke-key key_…`;

function parse(args: string[]) {
  return parseArgs({
    args,
    allowPositionals: true,
    options: {
      name: { type: 'string' },
      plan: { type: 'string' },
      account: { type: 'string' },
      scopes: { type: 'string' },
      expires: { type: 'string' },
      'database-url': { type: 'string' },
      all: { type: 'boolean' },
      json: { type: 'boolean' },
    },
  });
}

type Options = ReturnType<typeof parse>['values'];

export const admin: Command = {
  name: 'admin',
  summary: 'create accounts and keys, revoke keys, try dead letters again',
  usage,
  async run(args) {
    const { values, positionals } = parse(args);
    const work = readWork(positionals, values);
    if (work === undefined) {
      console.error(usage);
      return 2;
    }
    const outcome = await onDatabase(values['database-url'] ?? process.env['EARSHOT_DATABASE_URL'], work);
    console.log(values.json === true ? JSON.stringify(outcome.json) : outcome.text);
    return 0;
  },
};

/** Reads everything that was typed before the database is touched. */
function readWork([action, ...rest]: string[], options: Options): Work | undefined {
  if (action === 'create-account' && rest.length === 0) return createAccount(options);
  if (action === 'create-key' && rest.length === 0) return createKey(options);
  if (action === 'dead-letters') return deadLettersWork(rest, options.all === true);
  const [keyId] = rest;
  if (action === 'revoke-key' && keyId !== undefined && rest.length === 1) return revokeKey(keyId);
  return undefined;
}

function createAccount(options: Options): Work {
  const name = options.name?.trim();
  if (!name) throw new Error('Say what the account is called: --name "Acme"');
  const plan = readPlan(options.plan);
  return async (database) => {
    const { accountId } = await database.createAccount({ name, plan });
    return {
      json: { account_id: accountId, name, plan },
      text: `Account ${accountId} (${plan}) is there. Its first key: pnpm earshot admin create-key --account ${accountId}`,
    };
  };
}

function createKey(options: Options): Work {
  const accountId = options.account;
  if (!accountId) throw new Error('Say whose key it is: --account acc_…');
  const scopes = readScopes(options.scopes);
  const expiresAt = readExpiry(options.expires, new Date());
  return async (database) => {
    const created = await database.createKey({ accountId, scopes, ...(expiresAt && { expiresAt }) });
    if (created === null) throw new Error(`There is no account ${accountId}.`);
    const { keyId, key } = created;
    const until = expiresAt ? `until ${expiresAt.toISOString()}` : 'until it is revoked';
    return {
      json: {
        key_id: keyId,
        key,
        account_id: accountId,
        scopes,
        expires_at: expiresAt?.toISOString() ?? null,
      },
      text: [
        key,
        '',
        'Keep this key now: it is shown only this once, and only its hash is stored.',
        `Its id is ${keyId}. It works ${until} and may: ${scopes.join(', ')}.`,
      ].join('\n'),
    };
  };
}

function revokeKey(keyId: string): Work {
  return async (database) => {
    if (!(await database.revokeKey(keyId))) {
      throw new Error(`There is no key ${keyId} that still works. A key id starts with key_.`);
    }
    return {
      json: { key_id: keyId, revoked: true },
      text: `Key ${keyId} is revoked. Every node refuses it within 5 seconds.`,
    };
  };
}

async function onDatabase(url: string | undefined, work: Work): Promise<Outcome> {
  if (!url) throw new Error('Say which database: --database-url postgres://…, or set EARSHOT_DATABASE_URL.');
  await using database = await openAdmin(url);
  return await work(database);
}
