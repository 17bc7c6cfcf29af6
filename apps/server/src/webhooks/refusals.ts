import { Failure } from '../runtime/failure.ts';

/** The same answer, to the byte, for an unknown id, a deleted webhook and another account's (I7). */
export function noSuchWebhook(): Failure {
  return new Failure('not_found', 'The webhook does not exist. List your webhooks to see their ids.');
}

export function nameTaken(name: string): Failure {
  return new Failure('already_exists', `The name ${JSON.stringify(name)} is in use. Choose another name.`);
}

export function neededByDigest(name: string): Failure {
  return new Failure(
    'failed_precondition',
    `The digest ${JSON.stringify(name)} is sent to this webhook. Delete the digest or change its recipients first.`,
    { details: { reason: 'in_use' } },
  );
}

export function notSigned(): Failure {
  return new Failure(
    'failed_precondition',
    'The webhook sends to a chat, whose messages are not signed. There is no secret to rotate.',
    { details: { reason: 'not_signed' } },
  );
}

/** The operator has not set up webhooks; the caller can only contact them. */
export function noSecretsKey(contact: string): Failure {
  return new Failure(
    'failed_precondition',
    `Webhooks are not set up on this installation: EARSHOT_SECRETS_KEY is missing. Ask ${contact}.`,
    { details: { reason: 'not_configured', contact } },
  );
}
