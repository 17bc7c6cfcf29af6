import { type Exchange, Refusal } from '../http/exchange.ts';
import { type JsonObject, readJsonObject } from '../http/json.ts';

/** The control surface speaks plainly: `{"message": …}` with 400 or 404. */
export function badRequest(message: string): Refusal {
  return new Refusal(400, { message });
}

export async function readBody({ request }: Exchange): Promise<JsonObject> {
  const body = await readJsonObject(request);
  if (body === undefined) throw badRequest('The body is not a JSON object.');
  return body;
}

/** One thing, or a list of them under its plural name. */
export async function readOneOrMany(exchange: Exchange, plural: string): Promise<unknown[]> {
  const body = await readBody(exchange);
  const many = body[plural];
  if (many === undefined) return [body];
  if (!Array.isArray(many)) throw badRequest(`${plural} is a list.`);
  return many;
}

/** Builds every item before the first one takes effect: a batch with a mistake changes nothing. */
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

/** The thing that `?token=` names; without it the only one, or the first one there is. */
export function findByToken<T extends { token: string }>({ query }: Exchange, things: Iterable<T>): T {
  const token = query.get('token');
  const found = Iterator.from(things).find((thing) => token === null || thing.token === token);
  if (found === undefined) throw new Refusal(404, { message: 'There is no such token in this sandbox.' });
  return found;
}
