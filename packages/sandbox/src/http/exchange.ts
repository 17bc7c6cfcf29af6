import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Values of the `:name` segments of the route. */
  readonly params: Record<string, string>;
  readonly bearer: string | undefined;
}

export type Handler<Deps> = (exchange: Exchange, deps: Deps) => void | Promise<void>;

/** Thrown by a handler that refuses a request; the server sends it as the response. */
export class Refusal extends Error {
  readonly status: number;
  /** A string is sent as plain text. */
  readonly body: object | string;
  readonly headers: OutgoingHttpHeaders;

  constructor(status: number, body: object | string, headers: OutgoingHttpHeaders = {}) {
    super(`refused with ${status}`);
    this.name = 'Refusal';
    this.status = status;
    this.body = body;
    this.headers = headers;
  }
}

export function openExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const url = new URL(request.url ?? '/', 'http://sandbox.local');
  const bearer = /^Bearer\s+(\S+)\s*$/i.exec(request.headers.authorization ?? '')?.[1];
  const { pathname: path, searchParams: query } = url;
  return { request, response, method: request.method ?? 'GET', path, query, params: {}, bearer };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: OutgoingHttpHeaders = {},
): void {
  const type = { 'content-type': 'application/json; charset=utf-8' };
  sendBytes(response, status, Buffer.from(JSON.stringify(body)), { ...type, ...headers });
}

export function sendRefusal(response: ServerResponse, { status, body, headers }: Refusal): void {
  if (typeof body === 'object') sendJson(response, status, body, headers);
  else
    sendBytes(response, status, Buffer.from(`${body}\n`), {
      'content-type': 'text/plain; charset=utf-8',
      ...headers,
    });
}

function sendBytes(
  response: ServerResponse,
  status: number,
  bytes: Buffer,
  headers: OutgoingHttpHeaders,
): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, { ...headers, 'content-length': bytes.length });
  response.end(bytes);
}

export function sendEmpty(response: ServerResponse, status: number): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status);
  response.end();
}
