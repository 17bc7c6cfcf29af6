import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { listenOnLoopback } from './listen.ts';

interface TcpProxyOptions {
  target: { host?: string; port: number };
}

/** A loopback proxy in front of one server, with the faults of a network. */
export async function startTcpProxy({ target }: TcpProxyOptions) {
  const fired = { cut: 0, held: 0, refused: 0 };
  const sockets = new Set<Socket>();
  const gate = createGate(() => fired.held++);
  const frozen = createFreezer(() => fired.held++);
  let isRefusing = false;
  let isLast: ((sent: Buffer) => boolean) | null = null;
  let answers: { left: number; readonly onCut: () => void } | null = null;

  const server = createServer({ allowHalfOpen: true }, (client) => {
    if (isRefusing) {
      fired.refused++;
      client.resetAndDestroy();
      return;
    }
    const upstream = connect({ host: target.host ?? '127.0.0.1', port: target.port, allowHalfOpen: true });
    const gates = [gate, frozen.gateOf(client)];
    const sentByClient = (chunk: Buffer) => {
      if (!isLast?.(chunk)) return;
      fired.cut++;
      client.resetAndDestroy();
    };
    /** What of an answer still passes. */
    const cutAnswer = (chunk: Buffer): Buffer => {
      if (answers === null) return chunk;
      const passing = chunk.subarray(0, answers.left);
      answers.left -= passing.length;
      return passing;
    };
    const sentByTarget = () => {
      if (answers === null || answers.left > 0) return;
      const { onCut } = answers;
      answers = null;
      fired.cut++;
      onCut();
      client.resetAndDestroy();
      upstream.destroy();
    };
    for (const [socket, other, cutTo, sent] of [
      [client, upstream, (chunk: Buffer) => chunk, sentByClient],
      [upstream, client, cutAnswer, sentByTarget],
    ] as const) {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      forward(socket, other, { gates, cutTo, sent }).catch(() => {
        client.destroy();
        upstream.destroy();
      });
    }
  });
  const port = await listenOnLoopback(server);
  const resetAll = (): void => sockets.forEach((socket) => socket.resetAndDestroy());

  return {
    port,
    /** `host:port`, which replaces the target's. */
    address: `127.0.0.1:${port}`,
    /** Resets every open connection; later ones pass. */
    cut(): void {
      // Each connection has two sockets here.
      fired.cut += sockets.size / 2;
      resetAll();
    },
    /**
     * Resets a connection after the target has received bytes for which this returns true. So the target acts on them, and the
     * client gets no answer. Null disables it.
     */
    cutAfter(value: ((sent: Buffer) => boolean) | null): void {
      isLast = value;
    },
    /**
     * Resets the connection on which the target has sent so many bytes since this call, counted over all connections: in the middle of
     * an answer, if it is longer. `onCut` runs before the client can connect again.
     */
    cutAnswerAfter(bytes: number, onCut: () => void = () => undefined): void {
      answers = { left: bytes, onCut };
    },
    /** Holds all bytes back in both directions and leaves the connections open, like a dead network. */
    pause: gate.close,
    resume: gate.open,
    /** Stops traffic on the open connections, as after a route change. Later connections work. */
    freeze: frozen.freeze,
    /** Resets each new connection while on. */
    refuse(value: boolean): void {
      isRefusing = value;
    },
    /** How often each fault affected traffic. A fault test asserts that its fault happened. */
    fired,
    async [Symbol.asyncDispose](): Promise<void> {
      gate.open();
      frozen.thaw();
      resetAll();
      server.close();
      await once(server, 'close');
    },
  };
}

async function forward(
  from: Socket,
  to: Socket,
  {
    gates,
    cutTo,
    sent,
  }: {
    gates: ReadonlyArray<ReturnType<typeof createGate>>;
    cutTo: (chunk: Buffer) => Buffer;
    sent: (chunk: Buffer) => void;
  },
): Promise<void> {
  await pipeline(
    from,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        for (const gate of gates) await gate.pass();
        yield cutTo(chunk);
        sent(chunk);
      }
      // Holds the end of the stream back like its bytes.
      for (const gate of gates) await gate.pass();
    },
    to,
  );
}

/** A gate for each open connection. */
function createFreezer(onHeld: () => void) {
  const gates = new Set<ReturnType<typeof createGate>>();
  return {
    gateOf(client: Socket) {
      const gate = createGate(onHeld);
      gates.add(gate);
      client.once('close', () => {
        gate.open();
        gates.delete(gate);
      });
      return gate;
    },
    freeze: () => gates.forEach((gate) => gate.close()),
    thaw: () => gates.forEach((gate) => gate.open()),
  };
}

function createGate(onHeld: () => void) {
  let closed: PromiseWithResolvers<void> | undefined;
  return {
    async pass() {
      if (closed === undefined) return;
      onHeld();
      await closed.promise;
    },
    open: () => {
      closed?.resolve();
      closed = undefined;
    },
    close: () => {
      closed ??= Promise.withResolvers();
    },
  };
}
