import type { Work } from './admin-work.ts';

/** `list`, or `retry` with an id or for all. Undefined when it is neither. */
export function deadLettersWork([action, id, ...rest]: string[], all: boolean): Work | undefined {
  if (rest.length > 0) return undefined;
  if (action === 'list' && id === undefined) return list;
  if (action !== 'retry' || (id === undefined) !== all) return undefined;
  if (id !== undefined && !/^[1-9]\d{0,14}$/.test(id)) {
    throw new Error(`"${id}" is not the id of a dead letter: see earshot admin dead-letters list`);
  }
  return retry(id === undefined ? null : Number(id));
}

const list: Work = async (database) => {
  const letters = await database.listDeadLetters();
  const lines = letters.map(
    ({ id, created_at, error, retry_requested }) =>
      `${id}  ${created_at.toISOString()}  ${retry_requested ? 'to be tried again' : error}`,
  );
  return { json: letters, text: lines.join('\n') || 'There are no dead letters.' };
};

function retry(id: number | null): Work {
  return async (database) => {
    const count = await database.retryDeadLetters(id);
    if (id !== null && count === 0) throw new Error(`There is no dead letter ${id}.`);
    return {
      json: { retrying: count },
      text: `${count} to be tried again. A node with the role match does so within 5 seconds.`,
    };
  };
}
