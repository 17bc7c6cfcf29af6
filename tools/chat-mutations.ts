import { inFile, type Mutation } from './mutation.ts';

const webhooks = 'apps/server/src/webhooks';
const chats = [
  'apps/server/test/chat-injections.unit.test.ts',
  'apps/server/test/webhook-formats.unit.test.ts',
];

/** What keeps strangers' words in messages for chats from being more than words, and the URL of a chat a secret. */
export const chatMutations: readonly Mutation[] = [
  ...inFile(`${webhooks}/formats/discord.ts`, chats, [
    ["strangers' words are not escaped for Discord", "'\\\\$&'", "'$&'"],
    ['a message to Discord may mention', 'allowed_mentions: { parse: [] },', ''],
  ]),
  ...inFile(`${webhooks}/formats/teams.ts`, chats, [
    ["a stranger's tag reaches Teams", 'text: visible(text)', 'text'],
  ]),
  ...inFile(`${webhooks}/formats/chat-content.ts`, chats, [
    [
      'a chat links to anything',
      "(url.protocol !== 'https:' && url.protocol !== 'http:')",
      'url.protocol.length === 0',
    ],
  ]),
  ...inFile(`${webhooks}/webhooks.sql.ts`, chats, [
    ['the URL of a chat is shown', 'isChatFormat(format) ?', 'url.length === 0 ?'],
  ]),
];
