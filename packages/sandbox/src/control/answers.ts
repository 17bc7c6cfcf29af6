import { type Exchange, Refusal } from '../http/exchange.ts';
import { type JsonObject, readJsonObject } from '../http/json.ts';

export function badRequest(message: string): Refusal {
  return new Refusal(400, { message });
}

export async function readBody({ request }: Exchange): Promise<JsonObject> {
  const body = await readJsonObject(request);
  if (body === undefined) throw badRequest('The body is not a JSON object.');
  return body;
}

/** The body is one item, or a list of items under the plural name. */
export async function readOneOrMany(exchange: Exchange, plural: string): Promise<unknown[]> {
  const body = await readBody(exchange);
  const many = body[plural];
  if (many === undefined) return [body];
  if (!Array.isArray(many)) throw badRequest(`${plural} is a list.`);
  return many;
}

/** Builds all items before any takes effect, so that a batch with a mistake changes nothing. */
export function buildAll<T extends object>(
  inputs: readonly unknown[],
  build: (input: unknown) => T | string,
): T[] {
  return inputs.map((input, index) => {
    const built = build(input);
    if (typeof built === 'string') throw badRequest(`item ${index}: ${built}`);
    return built;
  });
}

/** The app or tap that `?token=` names; without it, the first one. */
export function findByToken<T extends { token: string }>({ query }: Exchange, owners: Iterable<T>): T {
  const token = query.get('token');
  const found = Iterator.from(owners).find((owner) => token === null || owner.token === token);
  if (found === undefined) throw new Refusal(404, { message: 'There is no such token in this sandbox.' });
  return found;
}
