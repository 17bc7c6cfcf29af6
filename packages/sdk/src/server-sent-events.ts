export interface ServerSentEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

export type EventParser = ReturnType<typeof createEventParser>;

/** Parses `text/event-stream`. It drops an event that is incomplete at the end of the connection, as the standard requires. */
export function createEventParser() {
  let rest = '';
  let retryMs: number | undefined;
  let id = '';
  let event = '';
  let data: string[] = [];

  const takeLine = (line: string): ServerSentEvent | undefined => {
    if (line === '') {
      const complete = data.length > 0 ? { id, event: event || 'message', data: data.join('\n') } : undefined;
      event = '';
      data = [];
      return complete;
    }
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'id') id = value;
    else if (name === 'event') event = value;
    else if (name === 'data') data.push(value);
    else if (name === 'retry' && /^\d+$/.test(value)) retryMs = Number(value);
    return undefined;
  };

  return {
    /** The events that this piece completes. Pieces may end anywhere. */
    push(piece: string): ServerSentEvent[] {
      const text = rest + piece;
      // A carriage return at the end may be the first character of a line end.
      const lines = text.split(text.endsWith('\r') ? /\r\n|\n|\r(?!$)/ : /\r\n|\n|\r/);
      rest = lines.pop() ?? '';
      return lines.map(takeLine).filter((complete) => complete !== undefined);
    },
    /** How long the server requests to wait before the next connection. */
    get retryMs() {
      return retryMs;
    },
  };
}
