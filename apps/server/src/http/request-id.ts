import { isWellFormedKey } from '@earshot/contract';
import { newId } from '../runtime/ids.ts';

const sane = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's id if it sent a sane one, so that its logs and ours can be joined. A key is not: it would be logged. */
export function requestIdOf(sent: string | string[] | undefined): string {
  return typeof sent === 'string' && sane.test(sent) && !isWellFormedKey(sent) ? sent : newId('req');
}
