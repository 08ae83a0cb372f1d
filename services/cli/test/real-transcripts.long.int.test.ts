import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { runStemma, stemmaJson, temporaryFolder } from './run-stemma.ts';
import { callsOf, someTranscripts as transcripts } from './transcripts.ts';

type Imported = {
  readonly imported: readonly { readonly history: string; readonly file: string; readonly cycles: number }[];
};

/** Without what they share, the calls are as large as the last of them; put together they are the threads that `--whole` prints. */
const expectCallsToBeThreads = async (history: string, home: readonly string[]): Promise<void> => {
  const linesOf = async (...more: readonly string[]): Promise<readonly Record<string, unknown>[]> =>
    (await runStemma(['thread', history, '@*', ...more, ...home])).stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const whole = await linesOf('--whole');
  const calls = await linesOf('--json');
  let thread: readonly unknown[] = [];
  for (const [i, { label, shared, following, messages }] of calls.entries()) {
    thread = [...thread.slice(0, shared as number), ...(following as readonly unknown[])];
    expect([label, messages, thread]).toEqual([whole[i]?.['label'], thread.length, whole[i]?.['thread']]);
  }
  expect(calls).toHaveLength(whole.length);
  const snapshots = (await stemmaJson(['snapshots', history, ...home])) as readonly {
    threadSha256: string;
  }[];
  const shown = (await runStemma(['thread', history, '@t0', ...home])).stdout.trimEnd();
  expect(snapshots.at(-1)?.threadSha256).toBe(createHash('sha256').update(shown).digest('hex'));
};

test(
  'every call of every real transcript gives back exactly the messages before it, and the log replays to the same rows',
  { tags: ['context-tree§9:nothing-lost', 'record§3:imports'], timeout: 600_000 },
  async (context) => {
    if (transcripts.length === 0)
      context.skip('no recorded transcripts lie beside the checkout (STEMMA_TRANSCRIPTS)');
    using folder = temporaryFolder();
    const home = ['--home', folder.path];
    const { imported } = (await stemmaJson([
      'import',
      ...transcripts.map(({ file }) => file),
      ...home,
    ])) as Imported;
    expect(imported.map(({ file }) => file)).toEqual(transcripts.map(({ file }) => file));
    for (const [i, { messages }] of transcripts.entries()) {
      const { history, cycles } = imported[i]!;
      const calls = callsOf(messages);
      expect(cycles).toBe(calls.length);
      const { stdout, code } = await runStemma(['thread', history, '@*', '--provider', 'openai', ...home]);
      expect(code).toBe(0);
      const lines = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown);
      expect(lines).toEqual(calls.map((call, k) => ({ label: `@c${k + 1}`, cycle: k + 1, messages: call })));
      await expectCallsToBeThreads(history, home);
    }
    const replayed = (await stemmaJson([
      'replay',
      '--verify',
      '--batches',
      '1,7,1000',
      '--stops',
      ...home,
    ])) as {
      differences: number;
      accepted: number;
    };
    expect(replayed.differences).toBe(0);
    expect(replayed.accepted).toBeGreaterThan(transcripts.length * 37);
    expect(await stemmaJson(['verify', ...home])).toMatchObject({ ok: true, problems: [] });

    const again = (await stemmaJson(['import', ...transcripts.map(({ file }) => file), ...home])) as Imported;
    expect(again).toEqual({ imported: imported.map((each) => ({ ...each, repeated: true })), refused: [] });
  },
);
