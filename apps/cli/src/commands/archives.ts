import { readFile } from 'node:fs/promises';
import { apiCommand } from '../api-command.ts';
import type { CommandGroup } from '../command.ts';
import { usageFailure } from '../failure.ts';
import { cursor, oneOf, pageLimit, required, ruleFilters, rulesText, text } from '../options.ts';
import { renderTable, withMore } from '../output/table.ts';
import { shortTime } from '../output/times.ts';

const list = apiCommand({
  name: 'list',
  summary: 'list archives, up to when they are complete, and why the last attempt failed',
  options: { limit: pageLimit, cursor },
  examples: ['earshot archives list'],
  doing: 'Listing archives',
  call: (earshot, { options }) => earshot.listArchives(options),
  show: ({ archives: found, next_cursor }, screen) => {
    const rows = found.map((one) => [
      one.id,
      one.state,
      one.format,
      rulesText(one.rule_ids),
      shortTime(one.covered_through),
      `${one.bucket}/${one.prefix}`,
      one.name,
      one.message ?? '',
    ]);
    const headings = ['ID', 'STATE', 'FORMAT', 'RULES', 'COMPLETE THROUGH', 'BUCKET', 'NAME', 'MESSAGE'];
    return withMore(renderTable(headings, rows, screen), next_cursor, 'earshot archives list');
  },
});

const create = apiCommand({
  name: 'create',
  summary: 'write every match from now on to a bucket, once an hour',
  details:
    'The secret of the access key is read from a file, or from stdin with "-", so that it is not in the history of the shell.',
  options: {
    name: required(text('<name>', 'unique name in the account')),
    endpoint: required(text('<url>', 'address of the storage')),
    region: required(text('<region>', 'region of the bucket')),
    bucket: required(text('<bucket>', 'name of the bucket')),
    prefix: required(text('<prefix>', 'beginning of all object names')),
    'access-key-id': required(text('<id>', 'id of the access key')),
    'secret-file': required(text('<file>', 'file with the secret of the access key')),
    format: oneOf(['ndjson.gz', 'parquet'], 'format of the objects (default ndjson.gz)'),
    rule: ruleFilters,
  },
  examples: [
    'earshot archives create --name lake --endpoint https://s3.eu-central-1.amazonaws.com --region eu-central-1 --bucket example-earshot --prefix matches --access-key-id AKIAIOSFODNN7EXAMPLE --secret-file secret.txt',
  ],
  doing: 'Creating the archive',
  call: async (earshot, { options }) => {
    const { name, endpoint, region, bucket, prefix, format, rule } = options;
    return await earshot.createArchive({
      name,
      endpoint,
      region,
      bucket,
      prefix,
      access_key_id: options['access-key-id'],
      secret_access_key: await readSecret(options['secret-file']),
      format,
      rule_ids: rule,
    });
  },
  show: ({ id }) => `${id} is created. earshot archives list shows whether its key works.`,
});

async function readSecret(file: string): Promise<string> {
  try {
    return (await readFile(file === '-' ? '/dev/stdin' : file, 'utf8')).trim();
  } catch {
    throw usageFailure(`${file} cannot be read. Name the file with the secret of the access key.`);
  }
}

const remove = apiCommand({
  name: 'delete',
  summary: 'delete an archive; the objects in the bucket stay',
  args: { archive: required(text('<archive id>', 'as `earshot archives list` shows it')) },
  examples: ['earshot archives delete arc_01kb2n0a4c7q5t8w3y6z1v0n2p --yes'],
  doing: 'Deleting the archive',
  confirm: ({ args }) => `Delete ${args.archive}? Nothing more is written to the bucket.`,
  call: (earshot, { args }) => earshot.deleteArchive({ archive_id: args.archive }),
  show: ({ archive_id }) => `${archive_id} is deleted.`,
});

export const archives: CommandGroup = {
  name: 'archives',
  summary: 'buckets that get every match, once an hour',
  commands: [list, create, remove],
};
