import { Agent, request } from 'node:http';

export interface Caller extends Disposable {
  post(key: string, path: string, body: string): Promise<{ status: number; text: string }>;
}

/** A cheap client, because it shares the machine with the measured server. */
export function createCaller(url: string, connections: number): Caller {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    post: (key, path, body) =>
      new Promise((resolve, reject) => {
        const headers = {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        };
        const sent = request(`${url}${path}`, { method: 'POST', agent, headers }, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (part: string) => {
            text += part;
          });
          response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
          response.once('error', reject);
        });
        sent.once('error', reject);
        sent.end(body);
      }),
    [Symbol.dispose]: () => agent.destroy(),
  };
}
