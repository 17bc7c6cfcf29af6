import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIP } from 'node:net';

/** Addresses, or the name server's refusal. */
export type NameAnswer = readonly string[] | 'nxdomain' | 'servfail';

export interface NameServer extends AsyncDisposable {
  /** In the format of `dns.Resolver`. */
  readonly address: string;
  /** How often a name was queried, both address families together. */
  asked(name: string): number;
}

const typeA = 1;
const typeAAAA = 28;

/** A name server on this machine. It evaluates every query anew, and its answers may be cached for 0 seconds. */
export async function startNameServer(
  answer: (name: string, type: 'A' | 'AAAA', times: number) => NameAnswer,
): Promise<NameServer> {
  const counts = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    const times = (counts.get(name) ?? 0) + 1;
    counts.set(name, times);
    const found = answer(name, type === typeAAAA ? 'AAAA' : 'A', times);
    socket.send(reply(query, end, type, found), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    asked: (name) => counts.get(name) ?? 0,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function reply(query: Buffer, questionEnd: number, type: number, answer: NameAnswer): Buffer {
  const family = type === typeA ? 4 : 6;
  const addresses = typeof answer === 'string' ? [] : answer.filter((one) => isIP(one) === family);
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  const code = answer === 'nxdomain' ? 3 : answer === 'servfail' ? 2 : 0;
  head.writeUInt16BE(0x8180 | code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(addresses.length, 6);
  const records = addresses.map((address) => {
    const bytes = family === 4 ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc00c, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([head, query.subarray(12, questionEnd), ...records]);
}

function ipv6Bytes(address: string): Buffer {
  const [head = '', tail = ''] = address.split('::');
  const left = head.split(':').filter(Boolean);
  const right = tail.split(':').filter(Boolean);
  const groups = [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
