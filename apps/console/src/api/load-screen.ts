import { type ComponentType, lazy } from 'react';
import { readSession } from './session.ts';

const retryMs = 3_000;

/**
 * A screen whose script is loaded when it is first shown. Where that fails, because the server is away or has another version
 * by now, the page is loaded anew as soon as the server answers: browsers keep the failure of a script for as long as a page
 * lives.
 */
export function lazyScreen<Props>(load: () => Promise<ComponentType<Props>>) {
  return lazy(async () => ({ default: await load().catch(loadPageAnew) }));
}

async function loadPageAnew(): Promise<never> {
  do await new Promise((resolve) => setTimeout(resolve, retryMs));
  while (!(await isServerThere()));
  window.location.reload();
  // The page is gone before anybody would see that nothing comes.
  return new Promise(() => undefined);
}

async function isServerThere(): Promise<boolean> {
  return readSession().then(
    () => true,
    () => false,
  );
}
