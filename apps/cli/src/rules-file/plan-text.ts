import { formatBudget } from '@earshot/contract/budgets';
import { spaced } from '../output/printable.ts';
import { countOf, type Plan, type PlannedUpdate } from './plan.ts';
import type { WantedRule } from './rules-file.ts';

type Paint = (style: 'green' | 'yellow' | 'red', text: string) => string;

/** The plan for people: + creates, ~ changes, - deletes. */
export function planText(plan: Plan, paint: Paint): string {
  const { set, creates, updates, deletes, unchanged, others } = plan;
  const counts = `${creates.length} to create, ${updates.length} to change, ${deletes.length} to delete, ${unchanged} unchanged`;
  return [
    ...creates.flatMap((wanted) => [paint('green', `+ ${wanted.key}`), ...wantedLines(wanted)]),
    ...updates.flatMap((update) => [
      paint('yellow', `~ ${update.wanted.key}  (${update.rule.id}, version ${update.rule.version})`),
      ...changeLines(update, paint),
    ]),
    ...deletes.map(({ id, name, managed_by }) =>
      paint('red', `- ${managed_by?.key ?? ''}  (${id}, ${shown(name)}) with its matches`),
    ),
    `${countOf(plan) === 0 ? 'Nothing to do' : 'Plan'} for the set "${set}": ${counts}.`,
    ...(others === 0
      ? []
      : [`${others} other ${others === 1 ? 'rule' : 'rules'} of the account: not affected.`]),
  ].join('\n');
}

function wantedLines({
  name,
  intent,
  overrides,
  expiresAt,
  budget,
  examples,
  relevance,
  alerts,
}: WantedRule): string[] {
  const lines = [`name: ${shown(name)}`, `intent: ${shown(intent)}`];
  for (const [platform, value] of Object.entries(overrides))
    lines.push(`overrides.${platform}: ${shown(value)}`);
  if (expiresAt !== null) lines.push(`expires_at: ${expiresAt}`);
  if (budget !== null) lines.push(`budget: ${formatBudget(budget)}`);
  if (examples !== null)
    lines.push(
      `examples: ${examples.must_match.length} must match, ${examples.must_not_match.length} must not`,
    );
  if (relevance !== null) lines.push(`relevance: ${shown(relevance)}`);
  if (alerts !== null) lines.push(`alerts: ${alerts}`);
  return lines.map((line) => `    ${line}`);
}

function changeLines({ changes }: PlannedUpdate, paint: Paint): string[] {
  return changes.flatMap(({ field, from, to }) => [
    `    ${field}`,
    paint('red', `      - ${shown(from)}`),
    paint('green', `      + ${shown(to)}`),
  ]);
}

/** The plan for programs. */
export function planJson({ set, creates, updates, deletes, unchanged, others }: Plan): object {
  return {
    set,
    create: creates.map(
      ({ key, name, intent, overrides, expiresAt, budget, examples, relevance, alerts }) => ({
        key,
        name,
        intent,
        overrides,
        expires_at: expiresAt,
        budget,
        examples,
        relevance,
        alerts,
      }),
    ),
    update: updates.map(({ wanted, rule, changes }) => ({
      key: wanted.key,
      rule_id: rule.id,
      version: rule.version,
      changes,
    })),
    delete: deletes.map((rule) => ({
      key: rule.managed_by?.key,
      rule_id: rule.id,
      version: rule.version,
      name: rule.name,
    })),
    unchanged,
    others,
  };
}

/** The value on one line, without control characters. */
function shown(value: unknown): string {
  if (value === null) return '(none)';
  return spaced(typeof value === 'string' ? value : JSON.stringify(value));
}
