/**
 * Labelled points between two effects, at which a crash leaves work half done. Tests kill the process at each of them and check that
 * everything converges. In production a checkpoint does nothing.
 */
export const checkpoints = [
  'create.begin',
  'create.written',
  'create.announced',
  'create.registered',
  'create.activated',
  'create.abandoned',
  'change.written',
  'change.registered',
  'change.applied',
  'change.undone',
  'pause.written',
  'register.picked',
  'register.added_upstream',
  'register.recorded',
  'delete.begin',
  'delete.written',
  'delete.announced',
  'release.marked',
  'release.removed_upstream',
  'release.recorded',
] as const;

/** In a connection to an upstream: a crash between any two of them loses only what X alone could resend. */
export const ingestCheckpoints = [
  'ingest.permitted',
  'ingest.opened',
  'ingest.read',
  'ingest.appended',
  'ingest.proven',
  'ingest.ended',
  'ingest.drained',
] as const;

/** In the delivery of a webhook. Separate, because the tests of a rule's life do not reach them. */
export const deliveryCheckpoints = [
  'deliver.claimed',
  'deliver.batched',
  'deliver.sent',
  'deliver.recorded',
] as const;

/** Steps of a digest message. */
export const digestCheckpoints = ['digest.made', 'digest.claimed', 'digest.sent', 'digest.recorded'] as const;

/** Steps of an object of an archive. */
export const archiveCheckpoints = [
  'archive.planned',
  'archive.put',
  'archive.listed',
  'archive.recorded',
] as const;

export type CheckpointLabel =
  | (typeof checkpoints)[number]
  | (typeof ingestCheckpoints)[number]
  | (typeof deliveryCheckpoints)[number]
  | (typeof digestCheckpoints)[number]
  | (typeof archiveCheckpoints)[number];
export type Checkpoint = (label: CheckpointLabel) => void;
