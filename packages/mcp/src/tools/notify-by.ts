import { requestObject } from '@earshot/contract';
import { type Answers, EarshotError } from '@earshot/sdk';
import { z } from 'zod';
import { unhidden } from '../content/visible.ts';
import { ruleId } from '../rule-fields.ts';
import { defineTool, InvalidArguments, type ToolCall } from '../tool.ts';

type Destination =
  | ({ readonly kind: 'webhook' } & Answers['ListWebhooks']['webhooks'][number])
  | ({ readonly kind: 'digest' } & Answers['ListDigests']['digests'][number]);

/** It takes no address, and shows none: an agent that was manipulated cannot send matches elsewhere or learn where they go. */
export const notifyBy = defineTool({
  name: 'notify_by',
  title: 'Send the matches of a rule',
  description: 'Add a rule to a webhook or digest that your user has made.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  operation: 'UpdateWebhook',
  argumentOf: { rule_ids: 'rule_id' },
  input: requestObject({
    rule_id: ruleId,
    destination: z.string().meta({ description: 'Its name or id' }),
  }),
  async run({ rule_id, destination }, call) {
    const found = findDestination(await allDestinations(call), destination);
    const rule = await ruleWords(rule_id, call);
    const { rule_ids } = found;
    if (rule_ids === null) return { text: `Nothing changed: it has every rule. ${outcomeOf(found, rule)}` };
    if (rule_ids.includes(rule_id)) return { text: `Nothing changed. ${outcomeOf(found, rule)}` };
    const changed = await update(found, [...rule_ids, rule_id], call);
    return { text: outcomeOf(changed, rule, ' from now on') };
  },
});

async function allDestinations({ earshot, signal }: ToolCall): Promise<Destination[]> {
  const all: Destination[] = [];
  for (let cursor: string | undefined | null; cursor !== null; ) {
    const page = await earshot.listWebhooks({ cursor }, { signal });
    all.push(...page.webhooks.map((webhook) => ({ kind: 'webhook', ...webhook }) as const));
    cursor = page.next_cursor;
  }
  for (let cursor: string | undefined | null; cursor !== null; ) {
    const page = await earshot.listDigests({ cursor }, { signal });
    all.push(...page.digests.map((digest) => ({ kind: 'digest', ...digest }) as const));
    cursor = page.next_cursor;
  }
  return all;
}

const listedMax = 50;

function findDestination(all: readonly Destination[], wanted: string): Destination {
  const found = all.filter((one) => [one.id, one.name, shownName(one)].includes(wanted));
  const [destination] = found;
  if (found.length > 1)
    throw refusal(`Several have this name. Use an id: ${found.map(({ id }) => id).join(', ')}.`);
  if (destination === undefined) {
    const listed = all.slice(0, listedMax).map(wordsOf);
    throw refusal(
      listed.length === 0
        ? 'The account has no webhook and no digest. Ask your user to make one.'
        : `No webhook or digest has this name or id. There are: ${listed.join(', ')}.`,
    );
  }
  if (destination.kind === 'webhook' && !destination.events.includes('matches'))
    throw refusal(`The ${wordsOf(destination)} sends only notices. Ask your user to let it send matches.`);
  return destination;
}

function refusal(message: string): InvalidArguments {
  return new InvalidArguments([{ field: 'destination', code: 'invalid_value', message }]);
}

async function update(
  { kind, id }: Destination,
  rule_ids: string[],
  { earshot, signal }: ToolCall,
): Promise<Destination> {
  return kind === 'webhook'
    ? { kind, ...(await earshot.updateWebhook({ webhook_id: id, rule_ids }, { signal })) }
    : { kind, ...(await earshot.updateDigest({ digest_id: id, rule_ids }, { signal })) };
}

/** The name of the rule, or its id if the key may not read rules. Throws if the rule does not exist. */
async function ruleWords(rule_id: string, { earshot, signal }: ToolCall): Promise<string> {
  try {
    return JSON.stringify(unhidden((await earshot.getRule({ rule_id }, { signal })).name));
  } catch (error) {
    if (error instanceof EarshotError && error.code === 'permission_denied') return rule_id;
    throw error;
  }
}

function outcomeOf(destination: Destination, rule: string, since = ''): string {
  const those = `Matches of ${rule}${destination.platform === null ? '' : ` on ${destination.platform}`}`;
  const where = wordsOf(destination);
  if (destination.kind === 'digest')
    return `${those} are in the messages of ${where}. The next one is due at ${destination.next_at}.`;
  const { state, failing_since } = destination;
  if (state !== 'active') return `${those} wait: ${where} is ${state} until your user enables it.`;
  if (failing_since !== null) return `${those} wait: ${where} has been failing since ${failing_since}.`;
  return `${those} are posted to ${where}${since}.`;
}

const wordsOf = (destination: Destination) => `${destination.kind} ${JSON.stringify(shownName(destination))}`;

/** Some programs name their webhook after its URL. */
const shownName = ({ name }: Destination) => unhidden(name).replace(/[a-z][a-z0-9+.-]*:\/\/\S+/giu, '…');
