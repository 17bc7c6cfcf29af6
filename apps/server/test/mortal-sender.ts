import type { CheckpointLabel } from '../src/runtime/checkpoint.ts';
import type { DeliveryStore } from '../src/webhooks/delivery-store.sql.ts';

/** A node that can be killed: from then on it writes nothing and gives nothing back. */
export function mortal(dies: (label: CheckpointLabel) => boolean) {
  const died = Promise.withResolvers<CheckpointLabel>();
  let dead = false;
  const alive = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    if (dead) throw new Error('dead');
    return await call();
  };
  return {
    died: died.promise,
    checkpoint(label: CheckpointLabel) {
      if (!dead && dies(label)) {
        dead = true;
        died.resolve(label);
      }
      if (dead) throw new Error('killed');
    },
    store: (store: DeliveryStore): DeliveryStore => ({
      leaseDue: (asked) => alive(() => store.leaseDue(asked)),
      begin: (...begun) => alive(() => store.begin(...begun)),
      finish: (claim, step, sent) => alive(() => store.finish(claim, step, sent)),
      skipTo: (claim, position) => alive(() => store.skipTo(claim, position)),
      finishNotice: (...finished) => alive(() => store.finishNotice(...finished)),
      skipNoticesTo: (claim, position) => alive(() => store.skipNoticesTo(claim, position)),
      release: (claim) => alive(() => store.release(claim)),
      matchesOf: (...asked) => alive(() => store.matchesOf(...asked)),
      ruleNames: (ids) => alive(() => store.ruleNames(ids)),
    }),
  };
}
