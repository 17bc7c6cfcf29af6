import type { Answer } from '../http.ts';
import { at, textAt } from '../json.ts';
import { firstWords } from '../redacted.ts';
import { type Bench, type Observation, type Step, seen } from '../step.ts';
import { changeTapRule, createTapRule, deleteTapRule, listTapRules } from './rules.ts';

/** The limit of the beta, and one more. */
const rulesWanted = 26;

export const f1: Step = {
  id: 'F1',
  about: `${rulesWanted} rules that match nothing: created, changed and deleted`,
  calls: 'GET, POST, PUT and DELETE /v1/rules, about 60 times in a minute; GET /v1/taps',
  usdMax: 0,
  makesRules: true,
  async *run(bench) {
    yield await seeWrongKey(bench);
    const value = `title:"${bench.word}"`;
    const first = await createTapRule(bench, value);
    if (first.id === null) {
      yield seen('F-38', false, `creating: ${problemWords(first.answer)}`);
      return;
    }
    const second = await createTapRule(bench, value);
    const isTwice = second.id !== null && second.id !== first.id;
    yield seen('F-9', isTwice, isTwice ? 'taken' : problemWords(second.answer));
    yield await seeRefusal(bench);
    const flag = await seeFlag(bench, first.id);
    yield flag.seen;
    yield await seeLimit(bench);
    yield await seeList(bench);
    const deleted = await deleteTapRule(bench, first.id);
    const statuses = `${first.answer.status} created, ${flag.status} changed, ${deleted.status} deleted`;
    yield seen('F-38', statuses === '201 created, 200 changed, 204 deleted', statuses);
  },
};

/** The beginning of the error message, which is about the doctor's own rule. */
function problemWords({ status, body }: Answer): string {
  const words = textAt(body, 'error', 'message') ?? textAt(body, 'message') ?? '';
  return `${status} ${firstWords(words, 120)}`.trim();
}

async function seeWrongKey({ http, throwIfStopped }: Bench): Promise<Observation> {
  throwIfStopped();
  const { status } = await http.call('GET', '/v1/taps');
  return seen('F-1', status === 401 || status === 403, String(status));
}

async function seeRefusal(bench: Bench): Promise<Observation> {
  const { answer } = await createTapRule(bench, 'title:"earshot doctor" AND');
  const message = textAt(answer.body, 'message') ?? textAt(answer.body, 'error', 'message');
  const errors = Object.values(Object(at(answer.body, 'errors')) as object).flat();
  const hasReason = message !== undefined && errors.every((reason) => message.includes(String(reason)));
  const where = message === undefined ? 'no message' : hasReason ? 'in message' : 'in errors alone';
  return seen('F-23', answer.status === 422 && hasReason, `${answer.status}, ${where}`);
}

async function seeFlag(bench: Bench, id: string): Promise<{ status: number; seen: Observation }> {
  const changed = await changeTapRule(bench, id, { quality: false });
  const { rules } = await listTapRules(bench);
  const listed = rules.find((rule) => rule.id === id);
  const isKept = listed?.tag !== null && listed?.quality === false;
  const words =
    listed === undefined ? 'the rule is not listed' : isKept ? 'changed, the tag kept' : 'not changed';
  return { status: changed.status, seen: seen('F-44', changed.status === 200 && isKept, words) };
}

async function seeLimit(bench: Bench): Promise<Observation> {
  const { rules, count = rules.length } = await listTapRules(bench);
  for (let number = count + 1; number <= rulesWanted; number += 1) {
    const { answer, id } = await createTapRule(bench, `title:"${bench.word}${number}"`);
    if (id === null) return seen('F-39', false, `rule ${number}: ${problemWords(answer)}`);
  }
  return seen('F-39', true, `${Math.max(count, rulesWanted)} taken`);
}

async function seeList(bench: Bench): Promise<Observation> {
  const { answer, rules, count } = await listTapRules(bench);
  const words = `${rules.length} listed, meta.count ${count ?? 'missing'}`;
  return seen('F-8', answer.status === 200 && count === rules.length, words);
}
