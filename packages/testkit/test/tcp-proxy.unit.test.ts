import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../src/eventually.ts';
import { startTcpProxy, type TcpProxy } from '../src/tcp-proxy.ts';

let echo: Server;
let proxy: TcpProxy;

beforeEach(async () => {
  echo = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    socket.pipe(socket);
  });
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const address = echo.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  proxy = await startTcpProxy({ target: { port: address.port } });
});
afterEach(async () => {
  await proxy[Symbol.asyncDispose]();
  echo.close();
});

function dial(): Socket {
  // The proxy resets what is open when a test ends.
  return connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
}

async function reply(socket: Socket, message: string): Promise<string> {
  socket.write(message);
  const [chunk] = await once(socket, 'data');
  return String(chunk);
}

test('bytes pass both ways, and the end of one direction does not end the other', async () => {
  const socket = dial();
  const big = 'x'.repeat(5_000_000);
  socket.end(big);
  expect((await text(socket)).length).toBe(big.length);
  expect(proxy.fired).toEqual({ cut: 0, held: 0, refused: 0 });
});

test('a cut resets open connections and lets new ones pass', async () => {
  const socket = dial();
  await reply(socket, 'a');
  const error = once(socket, 'error');
  proxy.cut();
  expect(await error).toMatchObject([{ code: 'ECONNRESET' }]);
  expect(proxy.fired.cut).toBe(1);
  expect(await reply(dial(), 'b')).toBe('b');
});

test('a pause holds bytes back without ending the connection, and a resume delivers them', async () => {
  const socket = dial();
  await reply(socket, 'a');
  proxy.pause();
  const answer = reply(socket, 'b');
  await eventually(() => proxy.fired.held > 0, { timeoutMs: 10_000 });
  expect(socket.bytesRead).toBe(1);
  proxy.resume();
  expect(await answer).toBe('b');
});

test('a refusal resets new connections, keeps open ones and can be taken back', async () => {
  const open = dial();
  await reply(open, 'a');
  proxy.refuse(true);
  await expect(reply(dial(), 'b')).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(proxy.fired.refused).toBe(1);
  expect(await reply(open, 'c')).toBe('c');
  proxy.refuse(false);
  expect(await reply(dial(), 'd')).toBe('d');
});

test('a target that is down looks like a closed connection', async () => {
  echo.close();
  const socket = dial();
  const closed = once(socket, 'close');
  socket.resume();
  socket.on('end', () => socket.end());
  await closed;
  expect(socket.bytesRead).toBe(0);
});
