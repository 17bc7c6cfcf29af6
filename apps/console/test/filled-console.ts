import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { eventually, listenOnLoopback } from '@earshot/testkit';
import { expect } from 'vitest';
import type { NewRule } from '../../../e2e/src/api.ts';
import type { Account } from '../../../e2e/src/world.ts';
import { type Console, type OpenPage, startConsole } from './console-page.ts';

const within = { timeoutMs: 240_000 };

/** A console of an account that has a little of everything. */
export interface FilledConsole extends AsyncDisposable {
  readonly console: Console;
  readonly receiverUrl: string;
  readonly ruleId: string;
  readonly webhookId: string;
  /** On a busy machine the platform may confirm too late, and nothing is created. */
  createRule(rule: NewRule): Promise<{ rule_id: string }>;
  call(operation: string, request?: object): Promise<ReturnType<typeof Object>>;
  /** A page that somebody else is signed in to. */
  openFor(account: Account): Promise<OpenPage>;
}

export async function startFilledConsole(): Promise<FilledConsole> {
  await using stack = new AsyncDisposableStack();
  const receiver = stack.use(await startReceiver());
  const console = stack.use(
    await startConsole({
      EARSHOT_SECRETS_KEY: randomBytes(32).toString('base64'),
      EARSHOT_TEST: 'allowInsecureWebhooks=true',
    }),
  );
  const api = console.server.api(console.account);
  const call = async (operation: string, request: object = {}) => {
    const answer = await api.call('POST', `/api.${operation}`, request);
    expect(answer).toMatchObject({ status: 200 });
    return Object(answer.json);
  };
  const createRule = (rule: NewRule) => eventually(() => api.createRule(rule), within);
  const { rule_id: ruleId } = await createRule({ x: 'aurora', firehose: 'aurora', name: 'Northern lights' });
  await api.updateRule(ruleId, { budget: { period: 'day', usd: 5 } });
  const { rule_id: shortLived } = await createRule({ x: 'meteor', name: 'Falling stars' });
  await api.updateRule(shortLived, { expires_at: new Date(Date.now() + 2_000).toISOString() });
  const { webhook_id: webhookId } = await call('CreateWebhook', { name: 'alerts', url: receiver.url });
  await console.world.sandbox.posts(['an aurora tonight', 'no aurora <script>alert(1)</script>']);
  await eventually(async () => expect((await api.matches()).matches).toHaveLength(2), within);
  await eventually(async () => {
    expect((await call('ListDeliveries', { webhook_id: webhookId })).deliveries).not.toEqual([]);
    const listed = Object((await api.call('POST', '/notices', {})).json);
    expect(listed.notices).toMatchObject([{ type: 'rule.expired' }]);
  }, within);
  const running = stack.move();
  return {
    console,
    receiverUrl: receiver.url,
    ruleId,
    webhookId,
    createRule,
    call,
    async openFor(account) {
      const opened = await console.open({ signedIn: false });
      await opened.page.getByLabel('API key').fill(account.key);
      await opened.page.keyboard.press('Enter');
      await opened.page.getByRole('heading', { name: 'Feed' }).waitFor();
      return opened;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** An endpoint that takes everything. */
async function startReceiver() {
  const endpoint = createServer((_, response) => response.end('thank you'));
  const port = await listenOnLoopback(endpoint);
  return {
    url: `http://127.0.0.1:${port}/hook`,
    async [Symbol.asyncDispose]() {
      endpoint.closeAllConnections();
      endpoint.close();
      await once(endpoint, 'close');
    },
  };
}
