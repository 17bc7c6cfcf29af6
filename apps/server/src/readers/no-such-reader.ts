import { Failure } from '../runtime/failure.ts';

export function noSuchReader(): Failure {
  return new Failure('not_found', 'There is no such reader: list your readers to see those that exist.');
}
