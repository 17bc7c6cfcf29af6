/** Calls the routes that serve only the console. They are not part of the public API, so the SDK does not have them. */
export async function callConsole(
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<Response> {
  const headers = new Headers({ 'x-earshot-console': '1' });
  if (body) headers.set('content-type', 'application/json');
  try {
    return await fetch(path, {
      method,
      headers,
      credentials: 'same-origin',
      ...(body && { body: JSON.stringify(body) }),
    });
  } catch {
    throw new Error('The server cannot be reached. Check your connection and try again.');
  }
}

/** The message of the server. A proxy's answer has none, so its status is shown. */
export async function errorMessageOf(answer: Response): Promise<string> {
  const body: unknown = await answer.json().catch(() => null);
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : null;
  return typeof message === 'string' ? message : `The server answered with status ${answer.status}.`;
}
