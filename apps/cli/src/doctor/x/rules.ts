import type { Answer } from '../http.ts';
import { at, listAt, textAt } from '../json.ts';
import { firstWords } from '../redacted.ts';
import type { Bench } from '../step.ts';

export const rulesPath = '/2/tweets/search/stream/rules';

export interface XRule {
  readonly id: string;
  readonly value: string;
  readonly tag: string | null;
}
interface NewRule {
  readonly value: string;
  readonly tag?: string;
}

/** X applies most rules after this time. Before, it may answer that there are none. */
export const ruleDelayMs = 20_000;

const pagesMax = 30;

/** All rules of the app, or the answer if X refuses to list them. */
export async function listRules({
  http,
  throwIfStopped,
}: Pick<Bench, 'http' | 'throwIfStopped'>): Promise<{ rules: readonly XRule[] } | { refused: Answer }> {
  const rules: XRule[] = [];
  let token: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    throwIfStopped();
    const more = token === undefined ? '' : `&pagination_token=${encodeURIComponent(token)}`;
    const answer = await http.call('GET', `${rulesPath}?max_results=1000${more}`);
    if (answer.status !== 200) return { refused: answer };
    rules.push(...listAt(answer.body, 'data').flatMap(readRule));
    token = textAt(answer.body, 'meta', 'next_token');
    if (token === undefined) break;
  }
  return { rules };
}

function readRule(wire: unknown): XRule[] {
  const [id, value] = [textAt(wire, 'id'), textAt(wire, 'value')];
  return id === undefined || value === undefined ? [] : [{ id, value, tag: textAt(wire, 'tag') ?? null }];
}

export async function addRules(
  { http, throwIfStopped, made }: Bench,
  add: readonly NewRule[],
): Promise<Answer> {
  throwIfStopped();
  const answer = await http.call('POST', rulesPath, { body: { add } });
  for (const { id } of addedRules(answer)) made.add(id);
  return answer;
}

/** Validates rules without creating them. Throws if the refusal is not about the rules. */
export async function tryRules({ http, throwIfStopped }: Bench, add: readonly NewRule[]): Promise<Answer> {
  throwIfStopped();
  const answer = await http.call('POST', `${rulesPath}?dry_run=true`, { body: { add } });
  if ([401, 402, 403].includes(answer.status)) throw new Error(problemWords(answer));
  return answer;
}

export function deleteRules({ http }: Pick<Bench, 'http'>, ids: readonly string[]): Promise<Answer> {
  return http.call('POST', rulesPath, { body: { delete: { ids } } });
}

/** The rules that X has added. */
export const addedRules = ({ body }: Answer): XRule[] => listAt(body, 'data').flatMap(readRule);

/** The `title`, the last part of the `type` and the reason of a problem. They have no personal data. */
export function problemWords({ status, body }: Pick<Answer, 'status' | 'body'>): string {
  const problem = at(body, 'errors', 0, 'type') === undefined ? body : at(body, 'errors', 0);
  const words = [
    textAt(problem, 'title'),
    textAt(problem, 'type')?.split('/').at(-1),
    textAt(problem, 'reason'),
    textAt(problem, 'connection_issue'),
  ].filter((word) => word !== undefined);
  return [String(status), ...words.map((word) => firstWords(word, 60))].join(' ');
}
