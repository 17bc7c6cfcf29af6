import { z } from 'zod';
import * as accepted from './setting-values.ts';

/** Those of digests and their mails; part of the table in settings.ts. */
export const digestSettings = {
  digestsMax: {
    variable: 'EARSHOT_DIGESTS_MAX',
    schema: accepted.count.default(50),
    about: 'Digests that one account on a paid plan may have.',
  },
  freeDigestsMax: {
    variable: 'EARSHOT_FREE_DIGESTS_MAX',
    schema: z.coerce.number().int().min(0).default(2),
    about: 'The same on the free plan.',
  },
  smtpUrl: {
    variable: 'EARSHOT_SMTP_URL',
    isSecret: true,
    schema: accepted.smtpUrl.optional(),
    about:
      'The server through which [digests](digests.md) are mailed, as `smtps://user:password@host:465`, or `smtp://…:587` with STARTTLS, which is insisted on unless the host is a loopback address. Its certificate is verified.',
  },
  mailFrom: {
    variable: 'EARSHOT_MAIL_FROM',
    schema: accepted.mailAddress.optional(),
    about:
      'The sender of these mails, such as `earshot@example.com`. Without it, or without `EARSHOT_SMTP_URL`, none are sent.',
  },
  mailTo: {
    variable: 'EARSHOT_MAIL_TO',
    schema: accepted.list.pipe(z.array(accepted.mailRecipient)).default([]),
    about:
      'Who may get them: addresses and domains, such as `ops@example.com,@example.org`. Default: nobody, so that no account can mail strangers through you.',
  },
  mailsPerDay: {
    variable: 'EARSHOT_MAILS_PER_DAY',
    schema: accepted.count.default(200),
    about:
      'Mails of one account per UTC day. A digest message to three addresses counts as three, once, however often it is tried.',
  },
} as const satisfies Record<string, accepted.Setting>;
