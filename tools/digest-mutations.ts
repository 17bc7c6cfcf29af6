import { inFile, type Mutation } from './mutation.ts';

const digests = 'apps/server/src/digests';
const issues = ['apps/server/test/digests.int.test.ts'];
const chaos = ['apps/server/test/digest-chaos.int.test.ts'];
const mails = ['apps/server/test/digest-mail.int.test.ts'];

/** Each match in one issue, no claim without proof, and mails that go only where they may. */
export const digestMutations: readonly Mutation[] = [
  ...inFile(`${digests}/make-issues.ts`, chaos, [
    [
      'an issue does not move the position of its digest',
      'set position = $2, covered_until',
      'set covered_until',
    ],
  ]),
  ...inFile(`${digests}/send-issue.ts`, chaos, [
    [
      'each attempt at an issue has an id of its own',
      'const { messageId, webhook } = issue;',
      'const { webhook } = issue;\n  const messageId = crypto.randomUUID();',
    ],
  ]),
  ...inFile(`${digests}/make-issues.ts`, issues, [
    [
      'issues are made while one waits',
      'and not exists (select 1 from digest_issues where digest_id = digests.id)',
      '',
    ],
    [
      'each time that was passed makes an issue',
      'isDue ? Math.max(now, due.next_at.getTime()) : now',
      'isDue ? due.next_at.getTime() : now',
    ],
    [
      'a clock that was ahead silences a digest',
      "(next_at <= $1 or scheduled_at > $1 + interval '1 day')",
      'next_at <= $1',
    ],
    [
      'digests of suspended accounts go on',
      'and account_id not in (select accounts.id from accounts where suspended_at is not null)',
      '',
    ],
    ['too few matches make an issue', 'waiting >= due.min_matches ||', 'waiting >= 1 ||'],
  ]),
  ...inFile(`${digests}/issues.sql.ts`, mails, [
    ['an account mails without end', 'where known.mails + $3 <= $4', ''],
    ['the first mails of a day have no bound', 'where $3::integer <= $4::integer', ''],
    ['each attempt counts', '!issue.counted.includes(address)', "address !== ''"],
    ['another recipient does not count', '!issue.counted.includes(address)', 'issue.counted.length === 0'],
  ]),
  ...inFile(`${digests}/send-issue.ts`, mails, [
    [
      'recipients are not checked again at sending',
      'emails.filter((address) => isAllowed({ recipients: mailRecipients }, address))',
      '[...emails]',
    ],
  ]),
  ...inFile(`${digests}/send-issue.ts`, issues, [
    ['an issue is never given up', '>= givenUpAfterMs', '>= 100 * givenUpAfterMs'],
    ['a digest goes to a paused webhook', "if (state !== 'active')", "if (state === '')"],
  ]),
  ...inFile(`${digests}/issue-content.ts`, issues, [
    ['an issue has matches of the one before', 'position > positionFrom', 'position > 0'],
    ['what is not known yet was heard', 'isHeard && isKnown(covered, ledger)', 'isHeard'],
    ['a gap was heard', 'gaps.every(({ repaired }) => repaired)', 'gaps.length >= 0'],
  ]),
  ...inFile(`${digests}/issues.sql.ts`, issues, [
    [
      'owners are not told of what was not sent',
      "[accountId], {\n        type: 'digest.given_up'",
      "[], {\n        type: 'digest.given_up'",
    ],
  ]),
  ...inFile(`${digests}/mailer.ts`, mails, [
    ['each mail has a Message-ID of its own', 'messageId: `<${messageId}@${domain}>`,', ''],
    [
      'any mail server will do',
      'disableFileAccess: true,',
      'disableFileAccess: true,\n    tls: { rejectUnauthorized: false },',
    ],
  ]),
  ...inFile(`${digests}/accept-digest.ts`, mails, [
    ['mails go to everybody', 'if (isAllowed(mail, address)) return;', 'return;'],
    [
      'a domain allows all below it',
      "lower.slice(lower.lastIndexOf('@'))",
      "lower.replace(/^.*@(.*\\.)?(?=[^.]+\\.[^.]+$)/, '@')",
    ],
  ]),
  ...inFile(
    `${digests}/render-mail.ts`,
    [`${digests}/render-mail.unit.test.ts`],
    [
      [
        'mails have markup of strangers',
        'text.replace(/[&<>"\']/g, (character) => entities[character] ?? character)',
        'text',
      ],
      ['mails hide characters', '[{ text: visible(text) }]', '[{ text }]'],
      ['mails link to anything', '/^https?:\\/\\//i.test(url)', 'url.length > 0'],
    ],
  ),
  ...inFile(
    'packages/contract/src/digests.ts',
    ['packages/contract/test/digests.unit.test.ts'],
    [['an address may have anything behind it', '[A-Za-z0-9-]{2,63}$/', '[A-Za-z0-9-]{2,63}/']],
  ),
  ...inFile(
    `${digests}/schedule.ts`,
    [`${digests}/schedule.unit.test.ts`],
    [
      ['a window is due twice', '/ windowMs) + 1) * windowMs', '/ windowMs)) * windowMs'],
      ['a cron line is read in another zone', 'timezone, mode:', "timezone: 'UTC', mode:"],
    ],
  ),
];
