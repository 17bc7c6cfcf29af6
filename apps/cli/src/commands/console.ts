import { command } from '../command.ts';
import { findConnection } from '../connection.ts';
import { createConsoleLink } from '../console-link.ts';

export const openConsole = command({
  name: 'console',
  summary: 'print a link that signs in to the console',
  details: 'The link works once, within 60 s, and has the permissions of the key.',
  examples: ['earshot console'],
  async run(_, { env, isJson, screen }) {
    const link = await screen.waitFor('Creating the link', createConsoleLink(await findConnection(env)));
    screen.print(isJson ? JSON.stringify(link) : link.url);
  },
});
