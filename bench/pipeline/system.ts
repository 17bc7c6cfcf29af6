import { join } from 'node:path';
import { type Program, type ServerReady, startSandboxProgram, startServerProgram } from '@earshot/engines';
import { openAdmin } from '@earshot/server/admin';
import type { Engines } from '../start-engines.ts';
import { firehoseRule, type Load, xRule } from './load.ts';

export interface System {
  readonly load: Load;
  readonly server: Program<ServerReady>;
  readonly sandbox: Program<string>;
  /** Calls the API with a key that has all scopes. */
  readonly call: (path: string, body: unknown) => Promise<unknown>;
  readonly key: string;
}

const xToken = 'bench-x-token';
const tapToken = 'fh_bench';

/** The real server and the sandbox as separate processes, with rules on both platforms. */
export async function startSystem(
  engines: Engines,
  stack: AsyncDisposableStack,
  { rules, env }: { rules: number; env: Record<string, string> },
): Promise<System> {
  const sandbox = stack.use(
    await startSandboxProgram({
      args: ['--x-token', xToken, '--tap-token', tapToken, '--rule-delay-ms', '0', '--no-rate-limits'],
      logFile: join(engines.dir, 'sandbox.log'),
    }),
  );
  const server = stack.use(
    await startServerProgram({
      env: {
        EARSHOT_DATABASE_URL: engines.postgresUrl,
        EARSHOT_NATS_URL: engines.nats.url,
        EARSHOT_X_TOKENS: `main=${xToken}`,
        EARSHOT_FIREHOSE_TOKENS: `main=${tapToken}`,
        EARSHOT_X_BASE_URL: sandbox.ready,
        EARSHOT_FIREHOSE_BASE_URL: sandbox.ready,
        EARSHOT_ACCOUNT_SHARE_PERCENT: '100',
        EARSHOT_RULE_BUDGET: 'off',
        EARSHOT_TEST: 'upstreamPace=1000',
        ...env,
      },
      logFile: join(engines.dir, 'server.log'),
    }),
  );
  await using admin = await openAdmin(engines.postgresUrl);
  await admin.setPlanLimits('paid', { requests: 1_000_000, changes: 1_000_000 });
  const { accountId } = await admin.createAccount({ name: 'bench' });
  const created = await admin.createKey({ accountId });
  if (!created) throw new Error('the account is gone');
  const call = createCall(server.ready.address, created.key);
  await Promise.all(
    Array.from({ length: rules }, (_, n) =>
      call('/api.CreateRule', {
        name: `pipeline ${n}`,
        intent: 'to measure',
        platforms: ['x', 'firehose'],
        overrides: { x: xRule(n), firehose: firehoseRule(n) },
      }),
    ),
  );
  return { load: { sandboxUrl: sandbox.ready, rules }, server, sandbox, call, key: created.key };
}

function createCall(baseUrl: string, key: string): System['call'] {
  return async (path, body) => {
    const answer = await fetch(new URL(path, baseUrl), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
}
