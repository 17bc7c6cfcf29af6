export interface PlatformDescription {
  /** Its name for people. */
  readonly title: string;
  /** What it delivers. */
  readonly items: string;
  /** What `platform_post_id` holds. */
  readonly itemId: string;
  /** Premium rules are limited by the plan. */
  readonly ruleType: 'premium' | 'regular';
  readonly allowance: string;
  /** A query in its rule language, for schemas that agents read. */
  readonly sampleValue: string;
  /** The options of a rule besides its query, with the platform's defaults. */
  readonly ruleOptions: Readonly<Record<string, boolean>>;
  /** The fields of an example's payload of which one is needed, unless it has `raw`. */
  readonly exampleFields: readonly ('text' | 'title' | 'url')[];
}

/** Every way in which the platforms differ for a caller: API, tools and command line take their words from here. */
export const platformDescriptions = {
  x: {
    title: 'X',
    items: 'posts on X',
    itemId: "the post's id",
    ruleType: 'premium',
    allowance: 'few rules per plan',
    sampleValue: '("acme sky" OR #acmesky) lang:en -is:retweet',
    ruleOptions: {},
    exampleFields: ['text'],
  },
  firehose: {
    title: 'Firehose',
    items: 'web pages as they change',
    itemId: "the page's URL",
    ruleType: 'regular',
    allowance: 'any number of rules',
    sampleValue: 'title:"heat pump" AND language:"en"',
    ruleOptions: { quality: true, nsfw: false },
    exampleFields: ['text', 'title', 'url'],
  },
} as const satisfies Record<string, PlatformDescription>;
