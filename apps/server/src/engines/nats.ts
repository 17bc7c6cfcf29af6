import { readFile } from 'node:fs/promises';
import { JetStreamApiError, jetstream, jetstreamManager } from '@nats-io/jetstream';
import {
  AuthorizationError,
  ClosedConnectionError,
  ConnectionError,
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  type NatsConnection,
  NoRespondersError,
  RequestError,
  TimeoutError,
} from '@nats-io/transport-node';
import { keepTrying } from '../runtime/backoff.ts';
import { Failure } from '../runtime/failure.ts';

export interface Nats extends AsyncDisposable {
  readonly connection: NatsConnection;
  readonly jetstream: ReturnType<typeof jetstream>;
  readonly manager: Awaited<ReturnType<typeof jetstreamManager>>;
  readonly isCluster: boolean;
}

export interface NatsOptions {
  /** Paths. `creds` holds a user's JWT and seed; `ca` the authority of the servers; `cert` and `key` are our own. */
  readonly files?: {
    readonly creds?: string | undefined;
    readonly ca?: string | undefined;
    readonly cert?: string | undefined;
    readonly key?: string | undefined;
  };
  /** No server can be reached yet. Called at the first attempt and then every few seconds. */
  readonly onWaiting?: (error: unknown) => void;
  /** The connection was lost or restored. */
  readonly onChange?: (change: { isConnected: boolean; server: string }) => void;
}

const retryDelayMs = 250;

/** Connects, and reconnects for as long as it takes: the process survives an outage of NATS. */
export async function connectNats(url: string, name: string, options: NatsOptions = {}): Promise<Nats> {
  const given: ConnectionOptions = {
    ...(await connectionOptions(url, options.files ?? {})),
    name,
    maxReconnectAttempts: -1,
    reconnectTimeWait: retryDelayMs,
    // If the operator changes the password on the servers first, the connection must not end for good.
    ignoreAuthErrorAbort: true,
    ignoreClusterUpdates: true,
    // Capturing a stack trace for every publish took a tenth of the CPU time.
    noAsyncTraces: true,
    // A server that hangs keeps its connections open and accepts new ones. After about 6 s without a pong the client
    // connects to another server, and it waits no longer than `timeout` for a server's greeting.
    pingInterval: 2_000,
    maxPingOut: 2,
    timeout: 2_000,
  };
  // Not with the client's own `waitOnFirstConnect`, which does not report the reason for waiting.
  const connection = await keepTrying(() => connect(given), {
    delayMs: retryDelayMs,
    isForGood: (error) => error instanceof AuthorizationError,
    onWaiting: options.onWaiting,
  }).catch(explainLogin);
  nameRequests(connection);
  if (options.onChange) void reportChanges(connection, options.onChange);
  const manager = await keepTrying(() => jetstreamManager(connection, { timeout: 5_000 }), {
    delayMs: retryDelayMs,
    isForGood: (error) => !isWithoutLeader(error),
    onWaiting: options.onWaiting,
  });
  return {
    connection,
    jetstream: jetstream(connection, { timeout: 5_000 }),
    manager,
    isCluster: connection.info?.cluster !== undefined,
    async [Symbol.asyncDispose]() {
      if (!connection.isClosed()) await connection.drain();
    },
  };
}

const clusterNotAvailable = 10_008;

/** Whether the error is that of NATS servers that have just started and have not elected a leader yet. */
export function isWithoutLeader(error: unknown): boolean {
  return (
    error instanceof TimeoutError ||
    (error instanceof JetStreamApiError && error.code === clusterNotAvailable)
  );
}

/** Whether a call failed because no server answered: the connection is lost, or no server is the leader. */
export function isNatsAway(error: unknown): boolean {
  return (
    isWithoutLeader(error) ||
    error instanceof ClosedConnectionError ||
    error instanceof ConnectionError ||
    error instanceof NoRespondersError ||
    error instanceof RequestError
  );
}

/**
 * The client takes neither a login nor `tls:` from an address. The login of the first address that has one is used for all. It is
 * removed from the addresses, because the client names them in errors.
 */
async function connectionOptions(
  url: string,
  files: NonNullable<NatsOptions['files']>,
): Promise<ConnectionOptions> {
  const addresses = url.split(',').map((one) => new URL(one));
  const login = addresses.find(({ username }) => username !== '');
  const user = decodeURIComponent(login?.username ?? '');
  const pass = decodeURIComponent(login?.password ?? '');
  const { creds, ca, cert, key } = files;
  const isTls =
    addresses.some(({ protocol }) => protocol === 'tls:') || ca !== undefined || cert !== undefined;
  return {
    servers: addresses.map(({ host }) => host),
    ...(user !== '' && (pass === '' ? { token: user } : { user, pass })),
    ...(creds !== undefined && { authenticator: credsAuthenticator(await readFile(creds)) }),
    ...(isTls && {
      tls: {
        ...(ca !== undefined && { ca: await readFile(ca, 'utf8') }),
        ...(cert !== undefined && { cert: await readFile(cert, 'utf8') }),
        ...(key !== undefined && { key: await readFile(key, 'utf8') }),
      },
    }),
  };
}

/** Reports changes until the connection is closed. */
async function reportChanges(
  connection: NatsConnection,
  onChange: NonNullable<NatsOptions['onChange']>,
): Promise<void> {
  for await (const status of connection.status()) {
    if (status.type !== 'disconnect' && status.type !== 'reconnect') continue;
    onChange({ isConnected: status.type === 'reconnect', server: status.server });
  }
}

/** The client's errors name neither the request nor the server: "timeout". */
function nameRequests(connection: NatsConnection): void {
  const request = connection.request.bind(connection);
  connection.request = (subject, ...given) =>
    request(subject, ...given).catch((error: unknown) => {
      if (error instanceof Error) error.message += ` (${subject} at nats-server ${connection.getServer()})`;
      throw error;
    });
}

function explainLogin(cause: unknown): never {
  if (!(cause instanceof AuthorizationError)) throw cause;
  throw new Failure(
    'failed_precondition',
    'NATS refuses the login. Put user and password into EARSHOT_NATS_URL (nats://user:password@host:4222), or set EARSHOT_NATS_CREDS_FILE.',
    { details: { reason: 'not_configured' }, cause },
  );
}
