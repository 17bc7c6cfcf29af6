import { requestObject } from '@earshot/contract';
import { z } from 'zod';
import { unhidden } from '../content/visible.ts';
import { defineTool, readsOnly } from '../tool.ts';

export const labelMatches = defineTool({
  name: 'label_matches',
  title: 'Label matches',
  description: "Say whether matches fit their rule's intent: readers can then leave out others.",
  annotations: { ...readsOnly, readOnlyHint: false },
  operation: 'LabelMatches',
  input: requestObject({
    match_ids: z.array(z.string()).max(100),
    label: z.enum(['relevant', 'not_relevant', 'none']),
    note: z.string().optional(),
  }),
  output: z.object({
    labelled: z.int(),
    often_rejected: z.array(z.looseObject({})),
  }),
  async run(args, { earshot, signal }) {
    const { labelled, mute_suggestions } = await earshot.labelMatches(
      { ...args, label: args.label === 'none' ? null : args.label },
      { signal },
    );
    return {
      structured: {
        labelled,
        often_rejected: mute_suggestions.map(({ rule_id, author, domain, rejected }) => ({
          rule_id,
          source: unhidden(author ?? domain ?? ''),
          rejected,
        })),
      },
    };
  },
});
