import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { listenOnLoopback } from './listen.ts';

export type OtlpValue = string | number | boolean | readonly OtlpValue[] | null;
export type OtlpAttributes = Readonly<Record<string, OtlpValue>>;

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Null for a root span. */
  readonly parentId: string | null;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly failed: boolean;
  readonly attributes: OtlpAttributes;
  /** Resource attributes of the sending process. */
  readonly resource: OtlpAttributes;
}

export interface OtlpReceiver extends AsyncDisposable {
  readonly url: string;
  readonly spans: readonly OtlpSpan[];
  readonly requests: ReadonlyArray<{ readonly headers: IncomingHttpHeaders; readonly body: Buffer }>;
  /** Unanswered requests. */
  open(): number;
}

/** A collector for traces by OTLP over HTTP, in protobuf. With `hangs`, it reads them and never answers. */
export async function startOtlpReceiver({ hangs = false } = {}): Promise<OtlpReceiver> {
  const spans: OtlpSpan[] = [];
  const requests: Array<{ headers: IncomingHttpHeaders; body: Buffer }> = [];
  let open = 0;
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    open++;
    response.on('close', () => open--);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    requests.push({ headers: request.headers, body });
    if (hangs) return;
    spans.push(...readRequest(body));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  };
  const server = createServer((request, response) => void take(request, response));
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}/v1/traces`,
    spans,
    requests,
    open: () => open,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The values of a protobuf message by field number. */
type Message = ReadonlyMap<number, ReadonlyArray<Buffer | bigint>>;

function readMessage(bytes: Buffer): Message {
  const fields = new Map<number, Array<Buffer | bigint>>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number) => bytes.subarray(at, (at += length));
  while (at < bytes.length) {
    const tag = Number(varint());
    const wireType = tag & 7;
    const value =
      wireType === 0 ? varint() : take(wireType === 1 ? 8 : wireType === 5 ? 4 : Number(varint()));
    const field = tag >>> 3;
    fields.set(field, [...(fields.get(field) ?? []), value]);
  }
  return fields;
}

const allOf = (message: Message, field: number): Buffer[] =>
  (message.get(field) ?? []).filter((value) => typeof value !== 'bigint');
const bytesOf = (message: Message, field: number): Buffer => allOf(message, field)[0] ?? Buffer.alloc(0);
const messagesOf = (message: Message, field: number): Message[] => allOf(message, field).map(readMessage);

/** The numbers of the fields are those of opentelemetry-proto. */
function readRequest(body: Buffer): OtlpSpan[] {
  return messagesOf(readMessage(body), 1).flatMap((resourceSpans) => {
    const [resource = new Map()] = messagesOf(resourceSpans, 1);
    return messagesOf(resourceSpans, 2)
      .flatMap((scopeSpans) => messagesOf(scopeSpans, 2))
      .map((span) => readSpan(span, readAttributes(resource, 1)));
  });
}

function readSpan(span: Message, resource: OtlpAttributes): OtlpSpan {
  const hex = (field: number) => bytesOf(span, field).toString('hex');
  const timeMs = (field: number) => Number(bytesOf(span, field).readBigUInt64LE() / 1_000_000n);
  const [status = new Map()] = messagesOf(span, 15);
  return {
    traceId: hex(1),
    spanId: hex(2),
    parentId: hex(4) || null,
    name: bytesOf(span, 5).toString(),
    startMs: timeMs(7),
    endMs: timeMs(8),
    failed: status.get(3)?.[0] === 2n,
    attributes: readAttributes(span, 9),
    resource,
  };
}

function readAttributes(message: Message, field: number): OtlpAttributes {
  return Object.fromEntries(
    messagesOf(message, field).map((pair) => [
      bytesOf(pair, 1).toString(),
      readValue(readMessage(bytesOf(pair, 2))),
    ]),
  );
}

function readValue(value: Message): OtlpValue {
  const [[field, [content = 0n] = []] = [0]] = value;
  if (field === 5) return messagesOf(readMessage(bytesOf(value, 5)), 1).map(readValue);
  if (typeof content !== 'bigint') return field === 4 ? content.readDoubleLE() : content.toString();
  return field === 2 ? content !== 0n : Number(BigInt.asIntN(64, content));
}
