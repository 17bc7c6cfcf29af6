import type { Command, CommandGroup } from './command.ts';
import { admin } from './commands/admin.ts';
import { apply } from './commands/apply.ts';
import { archives } from './commands/archives.ts';
import { audit } from './commands/audit.ts';
import { createCompletion } from './commands/completion.ts';
import { openConsole } from './commands/console.ts';
import { coverage } from './commands/coverage.ts';
import { demo } from './commands/demo.ts';
import { digests } from './commands/digests.ts';
import { doctor } from './commands/doctor.ts';
import { feeds } from './commands/feeds.ts';
import { keys } from './commands/keys.ts';
import { listen } from './commands/listen.ts';
import { login, logout } from './commands/login.ts';
import { matches } from './commands/matches.ts';
import { mcp } from './commands/mcp.ts';
import { notices } from './commands/notices.ts';
import { plan } from './commands/plan.ts';
import { preview } from './commands/preview.ts';
import { readers } from './commands/readers.ts';
import { rules } from './commands/rules.ts';
import { services } from './commands/services.ts';
import { sources } from './commands/sources.ts';
import { syntax } from './commands/syntax.ts';
import { test } from './commands/test.ts';
import { usage } from './commands/usage.ts';
import { watch } from './commands/watch.ts';
import { webhooks } from './commands/webhooks.ts';

const sections: Readonly<Record<string, readonly (Command | CommandGroup)[]>> = {
  Rules: [rules, preview, syntax, plan, apply, test],
  Read: [matches, notices, coverage, sources, readers],
  Deliver: [webhooks, digests, feeds, archives, listen, watch, mcp],
  Account: [login, logout, openConsole, keys, usage, audit],
  Operate: [demo, services, admin, doctor, createCompletion(() => earshotCommands)],
};

/** All commands. Parsing, help, completion and docs/cli.md are derived from this table. */
export const earshotCommands: CommandGroup = {
  name: 'earshot',
  summary: 'live event monitoring: rules in, matches out',
  commands: Object.entries(sections).flatMap(([section, entries]) =>
    entries.map((entry) => ({ ...entry, section })),
  ),
};
