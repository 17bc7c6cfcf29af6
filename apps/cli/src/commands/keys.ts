import { formatBudget } from '@earshot/contract/budgets';
import { scopes as scopeNames } from '@earshot/contract/scopes';
import { apiCommand } from '../api-command.ts';
import type { CommandGroup } from '../command.ts';
import { budget, cursor, listOf, pageLimit, required, text, time } from '../options.ts';
import { keyText } from '../output/key-text.ts';
import { renderTable, withMore } from '../output/table.ts';
import { shortTime } from '../output/times.ts';

const list = apiCommand({
  name: 'list',
  summary: 'list the valid keys of the account',
  options: { limit: pageLimit, cursor },
  examples: ['earshot keys list'],
  doing: 'Listing keys',
  call: (earshot, { options }) => earshot.listKeys(options),
  show: ({ keys, next_cursor }, screen) => {
    const headings = ['ID', 'NAME', 'KEY', 'CREATED', 'EXPIRES', 'LAST USED', 'BUDGET', 'SCOPES'];
    const rows = keys.map(
      ({ id, name, display, client, created_at, expires_at, last_used_at, budget: spends, scopes }) => [
        id,
        name ?? client?.name ?? '',
        display,
        shortTime(created_at),
        shortTime(expires_at),
        shortTime(last_used_at),
        spends ? formatBudget(spends) : '',
        scopes.join(','),
      ],
    );
    return withMore(renderTable(headings, rows, screen), next_cursor, 'earshot keys list');
  },
});

const create = apiCommand({
  name: 'create',
  summary: 'create another key, with at most the permissions of yours',
  options: {
    name: text('<name>', 'who or what uses the key, for people'),
    scopes: listOf(
      scopeNames,
      `any of ${scopeNames.join(', ')} (default: those of your key)`,
      '<scope,scope>',
    ),
    expires: time('when it stops working, no later than your key (default: when yours does)', 'future'),
    budget: budget('budget for all rules that it creates'),
  },
  examples: ['earshot keys create --name "Research agent" --scopes rules:read,matches:read --expires 90d'],
  doing: 'Creating the key',
  call: (earshot, { options: { name, scopes, expires, budget: spends } }) =>
    earshot.createKey({
      name,
      scopes,
      ...(expires !== undefined && { expires_at: expires }),
      ...(spends && { budget: spends }),
    }),
  show: ({ key_id, key, scopes, expires_at }) =>
    keyText({
      key: key ?? 'A repeated answer does not have the key. Revoke this key and create another one.',
      keyId: key_id,
      until: expires_at && shortTime(expires_at),
      scopes,
    }),
});

const revoke = apiCommand({
  name: 'revoke',
  summary: 'revoke a key',
  args: { key: required(text('<key id>', 'as `earshot keys list` shows it; your own is allowed')) },
  examples: ['earshot keys revoke key_01kb2m9x4c7q5t8w3y6z1v0n2p'],
  doing: 'Revoking the key',
  confirm: ({ args }) => `Revoke ${args.key}? Programs that use it lose access.`,
  call: (earshot, { args }) => earshot.revokeKey({ key_id: args.key }),
  show: ({ key_id }) => `${key_id} is revoked. Every node refuses it within 5 s.`,
});

export const keys: CommandGroup = {
  name: 'keys',
  summary: 'keys of the account',
  commands: [list, create, revoke],
};
