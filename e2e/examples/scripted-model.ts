import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { listenOnLoopback } from '@earshot/testkit';

export interface ScriptedModel extends AsyncDisposable {
  readonly url: string;
  /** The prompts of its requests, and the instructions apart from them. */
  readonly requests: readonly { readonly prompt: string; readonly instructions: string }[];
  /** By default it answers. `refuse` makes it refuse with an error that no client retries. */
  behave(how: 'answer' | 'refuse'): void;
}

/** A model that reads from a script, behind both HTTP interfaces of OpenAI: chat completions and responses. */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const requests: { prompt: string; instructions: string }[] = [];
  let behaviour = 'answer';
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Object(await json(request));
    requests.push(readQuestion(body));
    const refused = behaviour === 'refuse';
    response.writeHead(refused ? 400 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(refused ? refusal : answerOf(request, `answer ${requests.length}`)));
  };
  const server = createServer((request, response) => void answer(request, response));
  const port = await listenOnLoopback(server);
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    behave: (how) => {
      behaviour = how;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const refusal = { error: { message: 'not today', type: 'invalid_request_error', code: null, param: null } };
const model = 'scripted';

interface Message {
  readonly role: string;
  readonly content: string | readonly { readonly text: string }[];
}

function readQuestion({
  messages,
  input,
  instructions = '',
}: {
  messages?: Message[];
  input?: Message[];
  instructions?: string;
}) {
  const all = messages ?? input ?? [];
  const textOf = (isWanted: (role: string) => boolean) =>
    all
      .filter(({ role }) => isWanted(role))
      .map(({ content }) =>
        typeof content === 'string' ? content : content.map(({ text }) => text).join(''),
      )
      .join('\n');
  return {
    prompt: textOf((role) => role === 'user'),
    instructions: `${instructions}${textOf((role) => role !== 'user')}`,
  };
}

function answerOf({ url = '' }: IncomingMessage, text: string): object {
  if (url.endsWith('/chat/completions')) {
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
  }
  const content = [{ type: 'output_text', text, annotations: [] }];
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model,
    output: [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }],
    usage: {
      input_tokens: 1,
      output_tokens: 1,
      total_tokens: 2,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    },
  };
}
