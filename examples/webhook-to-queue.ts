import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { verifyWebhook, WebhookVerificationError } from '@earshot/sdk';

const { EARSHOT_WEBHOOK_SECRET = '', PORT = '8090', QUEUE = 'queue' } = process.env;
mkdirSync(QUEUE, { recursive: true });

/** One file for each job, named by the match: a repeated delivery adds nothing. The worker that takes a job deletes its file. */
function enqueue(id: string, job: object): void {
  const path = `${QUEUE}/${id}.json`;
  if (existsSync(path)) return;
  writeFileSync(`${path}.new`, JSON.stringify(job));
  renameSync(`${path}.new`, path);
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const body = await buffer(request);
    const { message } = await verifyWebhook({
      secret: EARSHOT_WEBHOOK_SECRET,
      headers: request.headers,
      body,
    });
    if (message.type === 'matches') {
      for (const match of message.matches) enqueue(match.id, { type: 'match', match });
      for (const removal of message.removed ?? []) enqueue(`removed-${removal.match_id}`, removal);
    }
    // Only now is the message acknowledged: without this answer, Earshot sends it again.
    response.writeHead(204).end();
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) console.error(error);
    response.writeHead(error instanceof WebhookVerificationError ? 401 : 500).end();
  }
}

const server = createServer((request, response) => void receive(request, response));
server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on ${PORT}`));
