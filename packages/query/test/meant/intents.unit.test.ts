import { describe, expect, test } from 'vitest';
import { applyFix, corrected, type Diagnostic, type Edit, languages } from '../../src/index.ts';

type Platform = 'x' | 'firehose';

interface Intent {
  readonly intent: string;
  /** As a model writes them from the intent and the guide, with its habits from other search engines. */
  readonly drafts: Readonly<Record<Platform, string>>;
  readonly meant: Readonly<Record<Platform, string>>;
}

const { raw } = String;

const intents: readonly Intent[] = [
  {
    intent: 'Posts and pages about Northwind Traders, not its own',
    drafts: {
      x: '("northwind traders" OR @northwindhq) AND NOT from:@northwindhq -is:retweets',
      firehose: '("northwind traders" OR "northwind\'s app") AND lang:en -site:northwind.example',
    },
    meant: {
      x: '("northwind traders" OR @northwindhq) -from:northwindhq -is:retweet',
      firehose:
        '("northwind traders" OR "northwind\'s app") AND language:en AND NOT domain:northwind.example',
    },
  },
  {
    intent: 'Changes of the pricing page of contoso.com',
    drafts: {
      x: 'link:contoso.com/pricing -filter:retweets',
      firehose: 'site:contoso.com AND url:*/pricing*',
    },
    meant: {
      x: 'url:"contoso.com/pricing" -is:retweet',
      firehose: raw`domain:contoso.com AND url:*\/pricing*`,
    },
  },
  {
    intent: 'Outages of Fabrikam in Europe',
    drafts: {
      x: 'fabrikam (outage, down, "not loading") lang:en,de',
      firehose: 'fabrikam AND outage AND (Europe OR Germany) AND recent:1w',
    },
    meant: {
      x: 'fabrikam (outage OR down OR "not loading") (lang:en OR lang:de)',
      firehose: 'fabrikam AND outage AND (Europe OR Germany) AND recent:7d',
    },
  },
  {
    intent: 'Vulnerabilities of Tailspin Server',
    drafts: {
      x: '"tailspin server" (CVE-2026-1234 OR vulnerability OR exploit)',
      firehose: '"tailspin server" AND (CVE-2026-1234 OR vulnerability OR exploit)',
    },
    meant: {
      x: '"tailspin server" ("CVE-2026-1234" OR vulnerability OR exploit)',
      firehose: '"tailspin server" AND ("CVE-2026-1234" OR vulnerability OR exploit)',
    },
  },
  {
    intent: 'People who look for an alternative to Contoso',
    drafts: {
      x: '"alternative to contoso" OR "contoso alternative" -is:retweet',
      firehose: '"contoso alternative" or title:"contoso alternative"',
    },
    meant: {
      x: '("alternative to contoso" OR "contoso alternative") -is:retweet',
      firehose: '"contoso alternative" OR title:"contoso alternative"',
    },
  },
  {
    intent: 'Job adverts for Rust engineers',
    drafts: {
      x: '#rustjobs, #rusthiring',
      firehose: 'title:rust engineer AND page_type:"/listing/job"',
    },
    meant: {
      x: '#rustjobs OR #rusthiring',
      firehose: 'title:"rust engineer" AND page_type:"/Listing/Job"',
    },
  },
  {
    intent: 'News on mergers and acquisitions of Fabrikam',
    drafts: {
      x: 'fabrikam AND (acquires OR merger OR takeover) AND has:url',
      firehose: 'fabrikam AND (acquires OR merger OR takeover) AND category:/News',
    },
    meant: {
      x: 'fabrikam (acquires OR merger OR takeover) has:links',
      firehose: 'fabrikam AND (acquires OR merger OR takeover) AND page_category:"/News"',
    },
  },
  {
    intent: 'What the regulator decides on payment apps, on trusted sites',
    drafts: {
      x: 'from:(fca OR bafin) "payment app"',
      firehose: '"payment app" AND (fine OR ban) AND dr>=60',
    },
    meant: {
      x: '(from:fca OR from:bafin) "payment app"',
      firehose: '"payment app" AND (fine OR ban) AND dr:[60 TO *]',
    },
  },
  {
    intent: 'Wärmepumpen und ihre Förderung, auf Deutsch',
    drafts: {
      x: 'Wärmepumpe (Förderung OR Zuschuss) language:german',
      firehose: 'Wärmepumpe UND Förderung AND language:german',
    },
    meant: {
      x: 'Wärmepumpe (Förderung OR Zuschuss) lang:de',
      firehose: 'Wärmepumpe AND Förderung AND language:de',
    },
  },
  {
    intent: '任天堂の新作',
    drafts: {
      x: '任天堂 （新作 OR 発売）',
      firehose: '任天堂 AND 新作 AND language:jp',
    },
    meant: {
      x: '任天堂 (新作 OR 発売)',
      firehose: '"任天堂" AND "新作" AND language:ja',
    },
  },
  {
    intent: 'زحام المرور في الرياض وجدة',
    drafts: {
      x: '#الرياض، #جدة',
      firehose: 'الرياض AND زحام AND language:arabic',
    },
    meant: {
      x: '#الرياض OR #جدة',
      firehose: 'الرياض AND زحام AND language:ar',
    },
  },
  {
    intent: 'Mentions of the open-source project tail-spin',
    drafts: {
      x: 'tail-spin || github.com/contoso/tail-spin',
      firehose: 'tail-spin AND recent:3days',
    },
    meant: {
      x: '"tail-spin" OR "github.com/contoso/tail-spin"',
      firehose: '"tail-spin" AND recent:3d',
    },
  },
];

/** Does what the messages propose: the corrected query, or else of each finding its certain or first fix. */
function follow(platform: Platform, draft: string): { readonly query: string; readonly attempts: number } {
  const language = languages[platform];
  let query = draft;
  for (let attempts = 1; attempts <= 5; attempts += 1) {
    const { valid, diagnostics } = language.validate(query);
    if (valid) return { query, attempts };
    query = corrected(language, query) ?? applyFix(query, { edits: editsOf(diagnostics) });
  }
  return { query, attempts: Number.POSITIVE_INFINITY };
}

function editsOf(diagnostics: readonly Diagnostic[]): Edit[] {
  const edits: Edit[] = [];
  for (const { severity, fixes } of diagnostics) {
    if (severity === 'warning' || severity === 'hint') continue;
    const fix = fixes.find(({ certainty }) => certainty === 'certain') ?? fixes[0];
    const isFree = fix?.edits.every(({ span: [start, end] }) =>
      edits.every(({ span }) => end <= span[0] || span[1] <= start),
    );
    if (fix !== undefined && isFree === true) edits.push(...fix.edits);
  }
  return edits;
}

describe.each([
  ['x', 2],
  ['firehose', 3],
] as const)('on %s, the messages lead from a draft to', (platform, attemptsMax) => {
  test.each(intents)('$intent', ({ drafts, meant }) => {
    const language = languages[platform];
    const { query, attempts } = follow(platform, drafts[platform]);
    expect(language.validate(query).canonical).toBe(language.validate(meant[platform]).canonical);
    expect(attempts).toBeLessThanOrEqual(attemptsMax);
  });
});
