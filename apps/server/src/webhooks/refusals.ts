import { Failure } from '../runtime/failure.ts';

/** The same answer, to the byte, for an unknown id, a deleted webhook and another account's (I7). */
export function noSuchWebhook(): Failure {
  return new Failure('not_found', 'There is no such webhook: list your webhooks to see the ids that exist.');
}

export function nameTaken(name: string): Failure {
  return new Failure('already_exists', `The name ${JSON.stringify(name)} is taken: choose another one.`);
}

export function neededByDigest(name: string): Failure {
  return new Failure(
    'failed_precondition',
    `The digest ${JSON.stringify(name)} is sent to this webhook: delete the digest, or give it another recipient first.`,
  );
}

/** The operator has not set up webhooks: the caller can only ask for it. */
export function noSecretsKey(contact: string): Failure {
  return new Failure(
    'failed_precondition',
    `Webhooks are not set up on this installation: EARSHOT_SECRETS_KEY is missing. Ask ${contact}.`,
    { details: { contact } },
  );
}
