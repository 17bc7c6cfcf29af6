import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface BrowserRequest {
  readonly to: { readonly url: string };
  /** POST by default. */
  readonly method?: string;
  /** The path of ListMatches by default. */
  readonly path?: string;
  readonly headers?: Headers;
  readonly body?: string;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** With the headers that a browser sets itself and `fetch` does not allow. Resolves when the answer begins. */
export async function openAsBrowser(init: BrowserRequest): Promise<IncomingMessage> {
  const { method = 'POST', path = '/matches', headers = {}, body, to } = init;
  const sent = request(new URL(path, to.url), { method, agent: false });
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) sent.setHeader(name, value);
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

export async function sendAsBrowser(init: BrowserRequest): Promise<Answered> {
  const response = await openAsBrowser(init);
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}

/** The cookie that a browser sends from now on. */
export function cookieIn({ headers }: Answered): string {
  const [cookie = ''] = headers['set-cookie'] ?? [];
  return cookie.split(';')[0] ?? '';
}
