import type { Answer } from '../http.ts';
import { at, listAt, numberAt, textAt } from '../json.ts';
import type { Bench } from '../step.ts';

const rulesPath = '/v1/rules';
/** A tap allows 60 calls a minute. */
const breathMs = 1_100;

interface TapRule {
  readonly id: string;
  readonly tag: string | null;
  readonly quality: boolean;
}
interface Listed {
  readonly answer: Answer;
  readonly rules: readonly TapRule[];
  readonly count: number | undefined;
}

type Calling = Pick<Bench, 'http' | 'pause'>;

export async function listTapRules({ http, pause }: Calling): Promise<Listed> {
  await pause(breathMs);
  const answer = await http.call('GET', rulesPath);
  const rules = listAt(answer.body, 'data').flatMap((rule) => {
    const id = textAt(rule, 'id');
    const quality = at(rule, 'quality') !== false;
    return id === undefined ? [] : [{ id, tag: textAt(rule, 'tag') ?? null, quality }];
  });
  return { answer, rules, count: numberAt(answer.body, 'meta', 'count') };
}

export async function createTapRule(
  bench: Bench,
  value: string,
): Promise<{ answer: Answer; id: string | null }> {
  await bench.pause(breathMs);
  bench.throwIfStopped();
  const answer = await bench.http.call('POST', rulesPath, { body: { value, tag: bench.nextTag() } });
  const id = textAt(answer.body, 'data', 'id') ?? null;
  if (id !== null) bench.made.add(id);
  return { answer, id };
}

export async function changeTapRule({ http, pause }: Calling, id: string, body: object): Promise<Answer> {
  await pause(breathMs);
  return http.call('PUT', `${rulesPath}/${encodeURIComponent(id)}`, { body });
}

export async function deleteTapRule({ http, pause }: Calling, id: string): Promise<Answer> {
  await pause(breathMs);
  return http.call('DELETE', `${rulesPath}/${encodeURIComponent(id)}`);
}
