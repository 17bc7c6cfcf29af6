import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const keptDir = join(import.meta.dirname, '../pictures');
/** Where a picture goes that is not like the kept one, to be looked at. */
const otherDir = join(tmpdir(), 'earshot-pictures');
const isUpdate = process.env['UPDATE_PICTURES'] === '1';

/** Of 255: smoothed edges of letters differ a little between versions of a browser. */
const channelDifferenceMax = 32;
/** Less than a letter. */
const pixelsMax = 40;

/**
 * Empty when the picture is like the one that is kept, and otherwise what is wrong. With `UPDATE_PICTURES=1` it is kept
 * instead. `canvas` is a page that may show images.
 */
export async function compareWithKept(name: string, taken: Buffer, canvas: Page): Promise<string> {
  const file = `${name}.png`;
  const kept = join(keptDir, file);
  if (isUpdate) {
    mkdirSync(keptDir, { recursive: true });
    writeFileSync(kept, taken);
    return '';
  }
  const before = existsSync(kept) ? readFileSync(kept) : null;
  if (before?.equals(taken)) return '';
  const differing = before && (await countDiffering(canvas, before, taken));
  if (differing !== null && isAlike(differing)) return '';
  mkdirSync(otherDir, { recursive: true });
  writeFileSync(join(otherDir, file), taken);
  const wrong = differing === null ? 'is not kept' : `differs from the kept one in ${differing} pixels`;
  return `${file} ${wrong}: look at ${join(otherDir, file)}, and keep it with UPDATE_PICTURES=1 if it is right`;
}

export function isAlike(differingPixels: number): boolean {
  return differingPixels <= pixelsMax;
}

/** All of them where the sizes differ. */
export async function countDiffering(canvas: Page, kept: Buffer, taken: Buffer): Promise<number> {
  const urls = [kept, taken].map((png) => `data:image/png;base64,${png.toString('base64')}`);
  return canvas.evaluate<number>(`(async () => {
    const [kept, taken] = await Promise.all(${JSON.stringify(urls)}.map(async (src) => {
      const image = new Image();
      image.src = src;
      await image.decode();
      const { width, height } = image;
      const context = new OffscreenCanvas(width, height).getContext('2d');
      context.drawImage(image, 0, 0);
      return { width, height, data: context.getImageData(0, 0, width, height).data };
    }));
    if (kept.width !== taken.width || kept.height !== taken.height) return taken.width * taken.height;
    let differing = 0;
    for (let at = 0; at < kept.data.length; at += 4) {
      const differs = (channel) => Math.abs(kept.data[at + channel] - taken.data[at + channel]) > ${channelDifferenceMax};
      if (differs(0) || differs(1) || differs(2)) differing++;
    }
    return differing;
  })()`);
}
