import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const storedDir = join(import.meta.dirname, '../pictures');
/** Pictures that differ from the stored ones are written here. */
const differentDir = join(tmpdir(), 'earshot-pictures');
const isUpdate = process.env['UPDATE_PICTURES'] === '1';

/** Out of 255. The antialiasing of letters differs slightly between browser versions. */
const channelDifferenceMax = 32;
/** Fewer pixels than a letter has. */
const pixelsMax = 40;

/**
 * Compares a picture with the stored one. Returns an error message, or an empty string if they are alike. With
 * `UPDATE_PICTURES=1`, stores the picture instead. `canvas` is a page whose policy allows images.
 */
export async function compareWithStored(name: string, taken: Buffer, canvas: Page): Promise<string> {
  const file = `${name}.png`;
  const stored = join(storedDir, file);
  if (isUpdate) {
    mkdirSync(storedDir, { recursive: true });
    writeFileSync(stored, taken);
    return '';
  }
  const before = existsSync(stored) ? readFileSync(stored) : null;
  if (before?.equals(taken)) return '';
  const differing = before && (await countDiffering(canvas, before, taken));
  if (differing !== null && isAlike(differing)) return '';
  mkdirSync(differentDir, { recursive: true });
  writeFileSync(join(differentDir, file), taken);
  const problem = differing === null ? 'is not stored' : `differs from the stored one in ${differing} pixels`;
  return `${file} ${problem}: check ${join(differentDir, file)}. If it is right, run again with UPDATE_PICTURES=1`;
}

export function isAlike(differingPixels: number): boolean {
  return differingPixels <= pixelsMax;
}

/** Counts the pixels that differ; all pixels if the sizes differ. */
export async function countDiffering(canvas: Page, stored: Buffer, taken: Buffer): Promise<number> {
  const urls = [stored, taken].map((png) => `data:image/png;base64,${png.toString('base64')}`);
  return canvas.evaluate<number>(`(async () => {
    const [stored, taken] = await Promise.all(${JSON.stringify(urls)}.map(async (src) => {
      const image = new Image();
      image.src = src;
      await image.decode();
      const { width, height } = image;
      const context = new OffscreenCanvas(width, height).getContext('2d');
      context.drawImage(image, 0, 0);
      return { width, height, data: context.getImageData(0, 0, width, height).data };
    }));
    if (stored.width !== taken.width || stored.height !== taken.height) return taken.width * taken.height;
    let differing = 0;
    for (let at = 0; at < stored.data.length; at += 4) {
      const differs = (channel) => Math.abs(stored.data[at + channel] - taken.data[at + channel]) > ${channelDifferenceMax};
      if (differs(0) || differs(1) || differs(2)) differing++;
    }
    return differing;
  })()`);
}
