import { z } from 'zod';
import { matchId, ruleId, timestamp } from './answer-fields.ts';
import { onEachPlatform, platformSchema } from './platforms.ts';
import { type RequestIssue, requestIssue, text } from './request-fields.ts';

const reasons = [
  'first',
  'same_page',
  'repost',
  'quote',
  'reply',
  'conversation',
  'same_url',
  'copy',
  'merged',
] as const;

export type StoryReason = (typeof reasons)[number];

const because = z.enum(reasons).meta({
  description:
    'Why it is in the story. `first`: the story began with it. `same_page`: the page or post that others link or refer to, another version of it, or another rule. `repost`, `quote`, `reply`, `conversation`: of an item of the story, or of the same post as one. `same_url`: it links to the same page. `copy`: its text is equal. `merged`: it began a story that a later item joined to this one.',
});

const storyId = z
  .string()
  .regex(/^story_[0-9a-z]+$/)
  .meta({ description: 'Id of the story. If two stories merge, both ids lead to the same story.' });

/** As many as a story lists. */
export const storyMembersMax = 10;
/** As many as are counted. */
export const storyCountMax = 10_000;

export const storySchema = z
  .strictObject({
    id: storyId,
    matches: z
      .int()
      .min(1)
      .meta({
        description: `Its matches now, within the filter; at most ${storyCountMax.toLocaleString('en')} are counted.`,
      }),
    platforms: z
      .strictObject(
        onEachPlatform((platform) =>
          z
            .int()
            .min(1)
            .optional()
            .meta({ description: `On \`${platform}\`.` }),
        ),
      )
      .meta({ description: 'How many of them are from each platform.' }),
    first_at: timestamp.meta({ description: 'When the first of them was stored.' }),
    last_at: timestamp.meta({ description: 'When the last of them was stored.' }),
    because,
    members: z
      .array(
        z.strictObject({
          match_id: matchId,
          rule_id: ruleId,
          platform: platformSchema,
          because,
          created_at: timestamp.meta({ description: 'When the match was stored.' }),
        }),
      )
      .meta({ description: `The newest of them, at most ${storyMembersMax}.` }),
  })
  .meta({
    description: 'The story of the match: only with `group: "story"`, and with `story_id`.',
  });

export type Story = z.output<typeof storySchema>;

export const groupBy = z.enum(['story']).meta({
  description:
    'Lists each story once and counts its other matches in `hidden.in_story`. With the newest first, a story is its newest match; otherwise its first, and again when it has grown to 10, 100, 1,000 and 10,000 matches.',
});

export const storyFilter = text({
  max: 100,
  description: 'Only matches of this story, each with the reason why it is in it.',
});

const withGroup = z.looseObject({ group: z.string() });
const withStory = z.looseObject({ story_id: z.string() });
const withField = (field: string) => z.looseObject({ [field]: z.unknown() });

/** Fields that would leave out the match that stands for its story, and those that wait for new ones. */
const notWithGroup = ['query', 'hidden', 'story_id'].map((field) => [field, withField(field)] as const);
const notWithStory = ['query', 'wait_seconds'].map((field) => [field, withField(field)] as const);

/** Takes anything: it also runs on a request whose fields are missing or wrong. */
export function storyContradictions(request: unknown): RequestIssue[] {
  const found = (names: typeof notWithGroup, words: string) =>
    names.flatMap(([field, schema]) => {
      const parsed = schema.safeParse(request);
      const isGiven = parsed.success && parsed.data[field] !== undefined;
      return isGiven ? [requestIssue('invalid_value', `Works only without ${words}.`, [field])] : [];
    });
  return [
    ...(withGroup.safeParse(request).success ? found(notWithGroup, '"group"') : []),
    ...(withStory.safeParse(request).success ? found(notWithStory, '"story_id"') : []),
  ];
}
