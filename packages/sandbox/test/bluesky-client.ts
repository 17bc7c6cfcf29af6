import { once } from 'node:events';
import { request } from 'node:http';
import { type ClientOptions, WebSocket } from 'ws';
import type { Sandbox } from '../src/index.ts';
import { at, createClient, listAt, textAt } from './client.ts';

export const eventsPath = '/xrpc/network.bsky.jetstream.subscribeEvents';

/** Uses a sandbox as a client of Jetstream and a test do: WebSockets and the control API. */
export function createBlueskyClient(sandbox: Sandbox) {
  const { control, arm, fired } = createClient(sandbox);
  const inject = async (plural: string, items: readonly object[]) =>
    listAt((await control('POST', `/bluesky/${plural}`, { [plural]: items })).body, plural);
  return {
    control,
    arm,
    fired,
    inject,
    post: (...texts: string[]) =>
      inject(
        'posts',
        texts.map((text) => ({ text })),
      ),
    turn: (knobs: object) => control('POST', '/bluesky/knobs', knobs),
    connections: async () => at((await control('GET', '/bluesky/state')).body, 'connections'),
    open: (query = '', path = eventsPath, options: ClientOptions = {}) =>
      openStream(sandbox.url.replace('http', 'ws') + path + query, options),
    openFirst: (query = '') => openStream(`${sandbox.url.replace('http', 'ws')}/subscribe${query}`, {}),
    /** The answer to a handshake, whether it upgrades or not. */
    shake: (query: string, headers: Record<string, string> = {}, path = eventsPath) =>
      shake(sandbox.url + path + query, headers),
  };
}

async function openStream(url: string, options: ClientOptions) {
  const webSocket = new WebSocket(url, { perMessageDeflate: false, ...options });
  const received: string[] = [];
  let wake = () => {};
  const pings: unknown[] = [];
  const end = new Promise<{ code: number; reason: string }>((resolve) => {
    webSocket.once('close', (code, reason) => {
      resolve({ code, reason: String(reason) });
      wake();
    });
  });
  webSocket.on('message', (data) => {
    if (Buffer.isBuffer(data)) received.push(data.toString());
    wake();
  });
  webSocket.on('ping', () => {
    pings.push(null);
    wake();
  });
  webSocket.on('error', () => undefined);
  const unexpected = once(webSocket, 'unexpected-response').then(([, response]) => response.statusCode);
  const status = await Promise.race([once(webSocket, 'open').then(() => 101), unexpected]);

  /** The next text of a frame; undefined at the end. */
  const text = async (): Promise<string | undefined> => {
    while (received.length === 0 && webSocket.readyState !== WebSocket.CLOSED)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    return received.shift();
  };
  return {
    status,
    webSocket,
    end,
    pings,
    text,
    frame: async (): Promise<unknown> => {
      const next = await text();
      return next === undefined ? undefined : JSON.parse(next);
    },
    /** The texts of that many posts. */
    posts: async (count: number) => {
      const texts: unknown[] = [];
      while (texts.length < count) texts.push(postOf(JSON.parse((await text()) ?? '{}')));
      return texts;
    },
    ping: async () => {
      while (pings.length === 0)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      pings.length = 0;
    },
    send: (data: string) => webSocket.send(data),
    close: () => webSocket.terminate(),
  };
}

function postOf(frame: unknown): unknown {
  return at(frame, 'payload', 'record', 'text') ?? at(frame, 'commit', 'record', 'text');
}

async function shake(url: string, headers: Record<string, string>) {
  const sent = request(url, {
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'c2FuZGJveCBzYW5kYm94IQ==',
      ...headers,
    },
  });
  sent.end();
  const answer = await Promise.race([once(sent, 'upgrade'), once(sent, 'response')]);
  const [response, socket] = answer;
  if (response.statusCode === 101) {
    socket.destroy();
    return { status: 101, headers: response.headers, body: undefined };
  }
  let body = '';
  for await (const part of response) body += String(part);
  return { status: response.statusCode, headers: response.headers, body };
}

export function uriAt(posts: readonly unknown[], index = 0): string {
  return textAt(posts[index], 'uri');
}
