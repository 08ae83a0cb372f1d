import { batchesIn, brokerLibs, missingTools, startBroker } from '@stemma/test-kit';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runStemma, temporaryFolder, type Run } from './run-stemma.ts';

const missing = missingTools();

test(
  "a command behind a frame that a broker's disk altered long ago is refused before it is acknowledged, and what others write is kept",
  { tags: ['record§2:damaged'], timeout: 600_000 },
  async ({ skip }) => {
    if (missing !== undefined) return skip(missing);
    const directory = mkdtempSync(join(tmpdir(), 'stemma-broker-'));
    using folder = temporaryFolder();
    const broker = await startBroker({ libs: await brokerLibs(), directory });
    try {
      const env = { STEMMA_LOG: `kafka://${broker.address}/altered?partitions=1` };
      const stemma = (...args: readonly string[]): Promise<Run> =>
        runStemma([...args, '--home', join(folder.path, 'home')], { env });
      const must = async (...args: readonly string[]): Promise<string> => {
        const { code, stdout, stderr } = await stemma(...args);
        if (code !== 0) throw new Error(`stemma ${args.join(' ')} ended with ${code}: ${stderr}`);
        return stdout;
      };
      await must('start', '--name', 'old');
      for (const text of ['one', 'two', 'three']) await must('insert', 'old', '--content', text);
      // So many records that nobody who continues at the end reads those of `old` again.
      const busy = Array.from({ length: 150 }, (_, i) => ({
        role: i % 2 === 0 ? 'user' : 'assistant',
        content: `line ${i}`,
      }));
      writeFileSync(join(folder.path, 'busy.json'), JSON.stringify(busy));
      await must('import', join(folder.path, 'busy.json'), '--history', 'busy');

      // Stopped in order: after a kill the broker itself would cut the batch off, and all behind it.
      await broker.stop('SIGTERM');
      const segment = join(directory, 'data', 'altered.frames-0', `${'0'.repeat(20)}.log`);
      const bytes = readFileSync(segment);
      // `LogOpened`, the start of the history, `one`, `two`.
      const altered = (batchesIn(bytes)[3] as number) + 70;
      bytes[altered] = (bytes[altered] as number) ^ 1;
      writeFileSync(segment, bytes);
      await broker.start();

      // The rows still have it.
      expect(await must('log', 'old')).toContain('"two"');
      const refused = await stemma('insert', 'old', '--content', 'four', '--json');
      expect(refused.code).toBe(5);
      expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'E_HISTORY_DAMAGED' } });
      await must('insert', 'busy', '--content', 'after the damage');

      const verified = await stemma('verify');
      expect(verified.code).toBe(5);
      const record = /stemma ack (\S+@\d+)/.exec((await stemma('histories')).stderr)?.[1];
      await must('ack', record as string, '--yes');
      const kept = await must('log', 'busy');
      expect(kept).toContain('"line 149"');
      expect(kept).toContain('"after the damage"');
      const left = await must('log', 'old');
      expect(left).toContain('"one"');
      expect(left).not.toContain('"three"');
      await must('insert', 'old', '--content', 'four');
      expect(await must('log', 'old')).toContain('"four"');
    } finally {
      await broker.stop('SIGKILL');
      rmSync(directory, { recursive: true, force: true });
    }
  },
);
