import { languageLabels, pageCategoryLabels, pageTypeLabels } from './labels.ts';

/** Nothing is documented (firehose.md §4): this length and number of clauses are known to work; depth protects the parser. */
export const limits = { length: 4_000, leaves: 500, depth: 32 } as const;

export const defaultField = 'added';

interface FieldRow {
  readonly name: string;
  readonly type: 'text' | 'keyword' | 'number' | 'filter';
  /** Text fields only: stop words are removed from the four diff fields. */
  readonly stopWords?: true;
  /** The closed list of values, where there is one. */
  readonly labels?: () => ReadonlySet<string>;
  readonly form: string;
  readonly meaning: string;
  readonly examples: readonly string[];
}

/** firehose.md §12.1; the syntax guide is generated from it. */
const rows: readonly FieldRow[] = [
  {
    name: 'added',
    type: 'text',
    stopWords: true,
    form: 'added:"…"',
    meaning: 'text that a crawl found newly inserted in a page; the field of every clause without one',
    examples: ['added:"heat pump"', '"heat pump"'],
  },
  {
    name: 'removed',
    type: 'text',
    stopWords: true,
    form: 'removed:"…"',
    meaning: 'text that disappeared from a page',
    examples: ['removed:"free shipping" AND domain:"shop.example"'],
  },
  {
    name: 'added_anchor',
    type: 'text',
    stopWords: true,
    form: 'added_anchor:"…"',
    meaning: 'text of newly inserted links; not in the delivered match, so a hit cannot be explained',
    examples: ['added_anchor:"press release"'],
  },
  {
    name: 'removed_anchor',
    type: 'text',
    stopWords: true,
    form: 'removed_anchor:"…"',
    meaning: 'text of removed links',
    examples: ['removed_anchor:"careers"'],
  },
  {
    name: 'title',
    type: 'text',
    form: 'title:"…"',
    meaning: 'page title; stop words count here',
    examples: ['title:"heat pump"', 'title:("heat pump" OR "solar roof")'],
  },
  {
    name: 'url',
    type: 'keyword',
    form: 'url:*\\/…\\/*',
    meaning:
      'the whole URL, case-sensitive; exact in quotes, `*` and `?` wildcards (escape `/` and `:`), or a /regex/; narrows, never causes a fetch',
    examples: ['title:"launch" AND url:*\\/press\\/*', 'title:"launch" AND url:/.*\\/20[0-9]{2}\\/.*/'],
  },
  {
    name: 'domain',
    type: 'keyword',
    form: 'domain:"…"',
    meaning: 'domain of the page, lower case; exact, wildcards or /regex/',
    examples: ['added:"recall" AND domain:"news.example"'],
  },
  {
    name: 'publish_time',
    type: 'keyword',
    form: 'publish_time:[… TO …}',
    meaning:
      'publication time, a local date-time compared as text; write the upper bound as the next day with `}`',
    examples: ['title:"recall" AND publish_time:[2026-05-01 TO 2026-06-01}'],
  },
  {
    name: 'page_category',
    type: 'keyword',
    labels: pageCategoryLabels,
    form: 'page_category:"/…"',
    meaning:
      'topic label, exact and case-sensitive, always quoted, e.g. /News, /News/Technology_News, /Finance, /Sports',
    examples: ['added:"merger" AND page_category:"/News"'],
  },
  {
    name: 'page_type',
    type: 'keyword',
    labels: pageTypeLabels,
    form: 'page_type:"/…"',
    meaning: 'kind of page, exact, always quoted, e.g. /Article, /Article/News_Update, /Listing/Job',
    examples: ['title:"battery" AND page_type:"/Article"'],
  },
  {
    name: 'language',
    type: 'keyword',
    labels: languageLabels,
    form: 'language:"…"',
    meaning: 'lower-case language code such as en, de, fr, es, ja, pt, zh-cn',
    examples: ['"heat pump" AND language:"en"'],
  },
  {
    name: 'dr',
    type: 'number',
    form: 'dr:[… TO …]',
    meaning: 'Domain Rating of the site, 0 to 100; ranges only',
    examples: ['"data breach" AND dr:[60 TO *]'],
  },
  {
    name: 'recent',
    type: 'filter',
    form: 'recent:7d',
    meaning:
      'published within the last n hours, days or months (`h`, `d`, `mo`); once, at the end, joined by AND',
    examples: ['title:"heat pump" AND recent:7d'],
  },
];

export const fields: ReadonlyMap<string, FieldRow> = new Map(rows.map((row) => [row.name, row]));

/** Names of other platforms and of settings, which no field stands for. */
export const fieldsElsewhere: ReadonlyMap<string, string> = new Map([
  ...['is', 'has', 'from', 'to', 'url_contains', 'place', 'bio', 'min_faves', 'retweets_of'].map(
    (name): [string, string] => [name, 'It belongs to rules for X; a web page has nothing of the kind'],
  ),
  ['source', 'For the site of a page use `domain`'],
  ['author', 'Pages have no author here; use `domain` for the site'],
  ['quality', 'It is an option of the rule (options.firehose.quality) and not a part of the query'],
  ['nsfw', 'It is an option of the rule (options.firehose.nsfw) and not a part of the query'],
]);

/** Names that are often written instead, in public material and in other systems. */
export const fieldAliases: ReadonlyMap<string, string> = new Map([
  ['lang', 'language'],
  ['languages', 'language'],
  ['category', 'page_category'],
  ['categories', 'page_category'],
  ['page_categories', 'page_category'],
  ['topic', 'page_category'],
  ['type', 'page_type'],
  ['types', 'page_type'],
  ['page_types', 'page_type'],
  ['domains', 'domain'],
  ['site', 'domain'],
  ['host', 'domain'],
  ['domain_rating', 'dr'],
  ['body', 'added'],
  ['content', 'added'],
  ['text', 'added'],
  ['keyword', 'added'],
  ['deleted', 'removed'],
  ['headline', 'title'],
  ['intitle', 'title'],
  ['inurl', 'url'],
  ['allintitle', 'title'],
  ['allinurl', 'url'],
  ['link', 'url'],
  ['anchor', 'added_anchor'],
  ['date', 'publish_time'],
  ['published', 'publish_time'],
  ['published_at', 'publish_time'],
  ['since', 'recent'],
  ['age', 'recent'],
]);

/** Names whose value has another form here. */
export const fieldsRewritten: ReadonlyMap<string, (value: string) => string> = new Map([
  ['after', (value: string) => `publish_time:[${value} TO *]`],
  ['before', (value: string) => `publish_time:[* TO ${value}}`],
  ['filetype', (value: string) => `url:*.${value}`],
  ['ext', (value: string) => `url:*.${value}`],
]);
