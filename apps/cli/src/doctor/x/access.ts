import { at, numberAt } from '../json.ts';
import { type Bench, doctorTagPrefix, type Observation, type Step, seen } from '../step.ts';
import { listRules, problemWords, rulesPath } from './rules.ts';

export const x0: Step = {
  id: 'X0',
  about: 'whether the app may read its usage',
  calls: 'GET /2/usage/tweets',
  usdMax: 0,
  async *run({ http, throwIfStopped }) {
    throwIfStopped();
    const usage = await http.call('GET', '/2/usage/tweets?days=1');
    const isOpen = usage.status === 200 && numberAt(usage.body, 'data', 'project_usage') !== undefined;
    yield seen('X-47', isOpen, isOpen ? 'open' : problemWords(usage));
  },
};

export const x1: Step = {
  id: 'X1',
  about: 'the rules that the app has, and its caps',
  calls: 'GET rules, GET rules/counts',
  usdMax: 0,
  async *run(bench) {
    yield await seeOtherRules(bench);
    yield await seeCounts(bench);
  },
};

async function seeOtherRules(bench: Bench): Promise<Observation> {
  const listed = await listRules(bench);
  if ('refused' in listed) return seen('X-48', false, problemWords(listed.refused));
  const others = listed.rules.filter(({ tag }) => !tag?.startsWith(doctorTagPrefix)).length;
  return seen('X-48', others === 0, others === 0 ? 'none' : `${others} rules`);
}

async function seeCounts({ http, throwIfStopped }: Bench): Promise<Observation> {
  throwIfStopped();
  const counts = await http.call('GET', `${rulesPath}/counts`);
  const caps = ['cap_per_client_app', 'cap_per_project'].map((name) => ({
    name,
    cap: numberAt(counts.body, 'data', name),
    type: typeof at(counts.body, 'data', name),
  }));
  const isComplete = counts.status === 200 && caps.every(({ cap }) => cap !== undefined);
  const words = caps.map(({ name, cap, type }) => `${name} ${cap ?? 'missing'} (${type})`).join(', ');
  return seen('X-49', isComplete, counts.status === 200 ? words : problemWords(counts));
}
