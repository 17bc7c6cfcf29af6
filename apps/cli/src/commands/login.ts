import { createEarshot } from '@earshot/sdk';
import { command } from '../command.ts';
import {
  type Connection,
  findConnection,
  forgetConnection,
  readUrl,
  storeConnection,
} from '../connection.ts';
import { Failure, usageFailure } from '../failure.ts';
import { text } from '../options.ts';
import type { Screen } from '../output/screen.ts';

const usualUrl = 'http://127.0.0.1:8080';
const checkMsMax = 15_000;

export const login = command({
  name: 'login',
  summary: 'remember the address of a server and a key for all other commands',
  details:
    'Asks for what you do not give, tests the key, and stores both in a file that only you can read, below $XDG_CONFIG_HOME or ~/.config. A key that is typed at the question, or comes from a file, stays out of the history of your shell. The variables EARSHOT_URL and EARSHOT_API_KEY take precedence over what is stored.',
  options: {
    url: text('<url>', `address of the server (default: asked for, ${usualUrl})`),
    key: text('<key>', 'an API key, esk_… (default: asked for)'),
  },
  examples: ['earshot login', `earshot login --url ${usualUrl} < key.txt`],
  async run({ options }, { env, isJson, screen }) {
    const connection = await readLogin(options, screen);
    await screen.waitFor('Trying the key', check(connection));
    const file = await storeConnection(env, connection);
    screen.print(
      isJson
        ? JSON.stringify({ url: connection.url, file })
        : `Logged in to ${connection.url}. The key is in ${file}.`,
    );
    const used = await findConnection(env);
    if (used.url !== connection.url || used.key !== connection.key) {
      screen.note('EARSHOT_URL or EARSHOT_API_KEY is set, and wins over what was stored now.');
    }
  },
});

async function readLogin(
  options: { readonly url: string | undefined; readonly key: string | undefined },
  screen: Screen,
): Promise<Connection> {
  const askUrl = async () =>
    screen.isInteractive ? (await screen.ask(`Address of the server [${usualUrl}]: `)).trim() : '';
  const url = readUrl(options.url ?? ((await askUrl()) || usualUrl));
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) {
    screen.note(
      'Warning: over http the key can be read on its way. Use https where there is a network in between.',
    );
  }
  const key = (options.key ?? (await screen.ask('API key (esk_…): ', true))).trim();
  if (!/^[\x21-\x7e]+$/.test(key)) throw usageFailure('That is no API key: keys begin with esk_.');
  return { url, key };
}

/** Any key that works may ask for the syntax. */
async function check({ url, key }: Connection): Promise<void> {
  await createEarshot({ url, key, timeoutMs: checkMsMax }).platformSyntax();
}

export const logout = command({
  name: 'logout',
  summary: 'forget the address and the key',
  details: 'The key itself keeps working: revoke it with earshot keys revoke.',
  examples: ['earshot logout'],
  async run(_, { env, isJson, screen }) {
    const isForgotten = await forgetConnection(env);
    if (!isForgotten && !isJson) throw new Failure('notFound', 'Nobody is logged in.');
    screen.print(isJson ? JSON.stringify({ logged_out: isForgotten }) : 'Logged out.');
  },
});
