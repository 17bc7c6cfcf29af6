import { countOf, type Plan } from './plan.ts';

/** The plan for people: + is created, ~ changed, - deleted. */
export function planText(plan: Plan): string {
  const { set, creates, updates, deletes, unchanged, others } = plan;
  const lines = [
    ...creates.flatMap(({ key, name, intent, overrides, expiresAt, examples }) => [
      `+ ${key}`,
      ...field('name', name),
      ...field('intent', intent),
      ...Object.entries(overrides).flatMap(([platform, value]) => field(`overrides.${platform}`, value)),
      ...(expiresAt === null ? [] : field('expires_at', expiresAt)),
      ...(examples === null ? [] : field('examples', examples)),
    ]),
    ...updates.flatMap(({ wanted, rule, changes }) => [
      `~ ${wanted.key}  (${rule.id}, version ${rule.version})`,
      ...changes.flatMap((change) => [
        `    ${change.field}`,
        `      - ${shown(change.from)}`,
        `      + ${shown(change.to)}`,
      ]),
    ]),
    ...deletes.map(
      (rule) =>
        `- ${rule.managed_by?.key ?? ''}  (${rule.id}, ${JSON.stringify(rule.name)}) with its matches`,
    ),
  ];
  const counts = `${creates.length} to create, ${updates.length} to change, ${deletes.length} to delete, ${unchanged} unchanged`;
  const head = countOf(plan) === 0 ? `Nothing to do` : `Plan`;
  return [
    ...lines,
    `${head} for the set "${set}": ${counts}.`,
    ...(others === 0
      ? []
      : [`${others} other ${others === 1 ? 'rule' : 'rules'} of the account: not touched.`]),
  ].join('\n');
}

/** The plan for programs. */
export function planJson({ set, creates, updates, deletes, unchanged, others }: Plan): object {
  return {
    set,
    create: creates.map(({ key, name, intent, overrides, expiresAt, examples }) => ({
      key,
      name,
      intent,
      overrides,
      expires_at: expiresAt,
      examples,
    })),
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

function field(name: string, value: unknown): string[] {
  return [`    ${name}: ${shown(value)}`];
}

/** As JSON: on one line, and nothing in it can move a terminal's cursor. */
function shown(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
