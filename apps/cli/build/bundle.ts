import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';

/** A program for Node, with all that it imports, as one file. */
export async function bundle(input: string, file: string, plugins: Plugin[] = []): Promise<void> {
  const bundled = await rolldown({ input, platform: 'node', plugins });
  try {
    const { output } = await bundled.generate({ format: 'esm', codeSplitting: false });
    if (output.length !== 1) throw new Error(`one file was expected, not ${output.length}`);
    // Renamed into place: nobody runs half of it.
    const draft = `${file}.${process.pid}`;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(draft, output[0].code, { mode: 0o755 });
    await rename(draft, file);
  } finally {
    await bundled.close();
  }
}
