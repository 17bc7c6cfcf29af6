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
  summary: 'store the server address and a key for all other commands',
  details:
    'Asks for missing options, tests the key, and stores both in a file that only you can read. A key that you type at the prompt stays out of your shell history.',
  options: {
    url: text('<url>', `address of the server (default: prompt, ${usualUrl})`),
    key: text('<key>', 'an API key, esk_… (default: prompt)'),
  },
  examples: ['earshot login', `earshot login --url ${usualUrl} < key.txt`],
  async run({ options }, { env, isJson, screen }) {
    const connection = await readLogin(options, screen);
    await screen.waitFor('Testing the key', check(connection));
    const file = await storeConnection(env, connection);
    screen.print(
      isJson
        ? JSON.stringify({ url: connection.url, file })
        : `Logged in to ${connection.url}. The key is in ${file}.`,
    );
    const used = await findConnection(env);
    if (used.url !== connection.url || used.key !== connection.key) {
      screen.note('EARSHOT_URL or EARSHOT_API_KEY is set, and overrides the stored login.');
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
    screen.note('Warning: http sends the key unencrypted. Use https over a network.');
  }
  const key = (options.key ?? (await screen.ask('API key (esk_…): ', true))).trim();
  if (!/^[\x21-\x7e]+$/.test(key)) throw usageFailure('This is not an API key. Keys start with esk_.');
  return { url, key };
}

/** Any valid key may call this operation. */
async function check({ url, key }: Connection): Promise<void> {
  await createEarshot({ url, key, timeoutMs: checkMsMax }).platformSyntax();
}

export const logout = command({
  name: 'logout',
  summary: 'delete the stored address and key',
  details: 'The key stays valid. To revoke it: earshot keys revoke',
  examples: ['earshot logout'],
  async run(_, { env, isJson, screen }) {
    const isDeleted = await forgetConnection(env);
    if (!isDeleted && !isJson) throw new Failure('notFound', 'There is no stored login.');
    screen.print(isJson ? JSON.stringify({ logged_out: isDeleted }) : 'Logged out.');
  },
});
