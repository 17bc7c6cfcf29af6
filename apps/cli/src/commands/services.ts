import { type CommandGroup, command } from '../command.ts';
import { loadLocal } from '../load-local.ts';
import { flag, text } from '../options.ts';

const dir = text('<folder>', 'another folder for their data (default .earshot/services)');
const load = () => loadLocal(() => import('../local/services.ts'));

const up = command({
  name: 'up',
  summary: 'start the services, or show their addresses if they run',
  options: { cluster: flag('three NATS nodes instead of one'), dir },
  examples: ['earshot services up', 'earshot services up --cluster'],
  run: async ({ options }, context) => (await load()).up(options, context),
});

const down = command({
  name: 'down',
  summary: 'stop the services; their data stays',
  options: { dir },
  examples: ['earshot services down'],
  run: async ({ options }, context) => (await load()).down(options, context),
});

const status = command({
  name: 'status',
  summary: 'show which services run',
  options: { dir },
  examples: ['earshot services status --json'],
  run: async ({ options }, context) => (await load()).status(options, context),
});

export const services: CommandGroup = {
  name: 'services',
  summary: 'private PostgreSQL and NATS servers for development, on loopback',
  commands: [up, down, status],
};
