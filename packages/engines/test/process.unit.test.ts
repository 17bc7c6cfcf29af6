import { expect, test } from 'vitest';
import { runTool } from '../src/process.ts';

test('a tool that ends before it has read its input fails like any other, and nothing else does', async () => {
  const input = 'select 1;\n'.repeat(1_000_000);
  await expect(runTool('/bin/sh', ['-c', 'echo out of order >&2; exit 3'], { input })).rejects.toThrow(
    /failed:\nout of order/,
  );
});
