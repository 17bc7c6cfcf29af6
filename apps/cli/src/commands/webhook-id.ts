import { required, text } from '../options.ts';

export const webhookId = required(text('<webhook id>', 'as `earshot webhooks list` shows it'));
