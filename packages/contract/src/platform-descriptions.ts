export interface PlatformDescription {
  /** Its name for people. */
  readonly title: string;
  /** The setting with which an operator switches it on; null for a platform that every installation has. */
  readonly setting: string | null;
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
  /** Whether its items are pages of different sites. */
  readonly hasSites: boolean;
  /** What a query needs in addition to leave out an author, site or phrase; null if the platform cannot. The value has no quotation marks. */
  readonly exclusions: Readonly<Record<'author' | 'domain' | 'phrase', ((value: string) => string) | null>>;
}

/** Every way in which the platforms differ for a caller: API, tools and command line take their words from here. */
export const platformDescriptions = {
  x: {
    title: 'X',
    setting: null,
    items: 'posts on X',
    itemId: "the post's id",
    ruleType: 'premium',
    allowance: 'few rules per plan',
    sampleValue: '("acme sky" OR #acmesky) lang:en -is:retweet',
    ruleOptions: {},
    exampleFields: ['text'],
    hasSites: false,
    exclusions: {
      author: (value) => `-from:${value}`,
      domain: (value) => `-url:"${value}"`,
      phrase: (value) => `-"${value}"`,
    },
  },
  firehose: {
    title: 'Firehose',
    setting: null,
    items: 'web pages as they change',
    itemId: "the page's URL",
    ruleType: 'regular',
    allowance: 'any number of rules',
    sampleValue: 'title:"heat pump" AND language:"en"',
    ruleOptions: { quality: true, nsfw: false },
    exampleFields: ['text', 'title', 'url'],
    hasSites: true,
    exclusions: {
      author: null,
      domain: (value) => `AND NOT domain:"${value}"`,
      phrase: (value) => `AND NOT "${value}"`,
    },
  },
  bluesky: {
    title: 'Bluesky',
    setting: 'EARSHOT_BLUESKY_URL',
    items: 'posts on Bluesky',
    itemId: "the post's AT URI",
    ruleType: 'regular',
    allowance: 'any number of rules',
    sampleValue: '("acme sky" OR #acmesky) lang:en',
    ruleOptions: {},
    exampleFields: ['text'],
    hasSites: false,
    exclusions: {
      author: (value) => `-from:${value}`,
      domain: (value) => `-url:"${value}"`,
      phrase: (value) => `-"${value}"`,
    },
  },
} as const satisfies Record<string, PlatformDescription>;
