import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openRecorder, type Recorder } from '../src/index.ts';

type Example = (open: typeof openRecorder) => Promise<readonly unknown[]>;
/** The constructor of asynchronous functions: it makes one of a text. */
const AsyncFunction = Object.getPrototypeOf(async () => undefined).constructor as new (
  ...parts: readonly string[]
) => Example;

test('the example "Step by step" of docs/recorder.md runs unchanged, and selects its question', async () => {
  const page = readFileSync(fileURLToPath(new URL('../../../../docs/recorder.md', import.meta.url)), 'utf8');
  const code = /## Step by step\n[^]*?```ts\n([^]*?)```/.exec(page)?.[1] ?? '';
  const home = mkdtempSync(join(tmpdir(), 'stemma-documented-'));
  let ctx: Recorder | undefined;
  try {
    const open: typeof openRecorder = async (options) => (ctx = await openRecorder({ ...options, home }));
    const answers = code.replaceAll(
      /^await ctx\.(select|diff|thread)\((.*?)\);.*$/gm,
      'answers.push(await ctx.$1($2));',
    );
    const run = new AsyncFunction('openRecorder', `const answers = [];\n${answers}\nreturn answers;`);
    const [selected, diff, thread] = await run(open);
    expect(JSON.stringify(selected)).toContain('n:0:1:1');
    expect(diff).toMatchObject({ added: expect.arrayContaining(['rules']) as unknown, removed: [] });
    expect(thread).toContain('A question.');
  } finally {
    await ctx?.close();
    rmSync(home, { recursive: true, force: true });
  }
});
