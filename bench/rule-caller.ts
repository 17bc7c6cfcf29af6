import { Agent, request } from 'node:http';

export interface RuleCaller extends Disposable {
  /** Creates a rule on `x` and asks again when it is told to come back. */
  create(key: string, value: string): Promise<void>;
  /** How often it was told to come back. */
  comebacks(): number;
}

/** A client that costs little: the machine is shared with what is measured. */
export function createRuleCaller(url: string, connections: number): RuleCaller {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let comebacks = 0;
  const post = (key: string, body: string) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      };
      const sent = request(`${url}/api.CreateRule`, { method: 'POST', agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
        response.once('error', reject);
      });
      sent.once('error', reject);
      sent.end(body);
    });
  return {
    async create(key, value) {
      const body = JSON.stringify({
        name: 'bench',
        intent: 'to measure',
        platforms: ['x'],
        overrides: { x: value },
      });
      for (;;) {
        const { status, text } = await post(key, body);
        if (status === 200) return;
        if (status !== 503 && status !== 504) throw new Error(`${status}: ${text}`);
        comebacks++;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    },
    comebacks: () => comebacks,
    [Symbol.dispose]: () => agent.destroy(),
  };
}
