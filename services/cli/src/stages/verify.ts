import { errorToJson, fail } from '@stemma/errors';
import { readSnapshot, verifySnapshot, type SnapshotVerdict } from '@stemma/stages';
import type { CommandSpec } from '../command.ts';
import { required, text } from '../options.ts';
import { printable } from '../output.ts';
import { giveExact, LOG_OPTIONS, profileOf, readJsonFile, readLogFile } from './log-file.ts';

export const verifyLog: CommandSpec = {
  name: 'verify',
  summary: 'recompute an event log and compare it with a snapshot; exit 5 unless it matches',
  arguments: [['<file>', 'an event log; - reads stdin']],
  options: [
    ['--snapshot <file>', 'the snapshot as a JSON file: {node_hash, node_count?, nodes?: [{id, digest}]}'],
    ...LOG_OPTIONS.slice(0, 1),
  ],
  run: async (context, [file], options) => {
    const profile = profileOf(options);
    const snapshotFile = text(options, 'snapshot');
    if (snapshotFile === undefined) throw fail('E_USAGE', 'the snapshot is missing: give --snapshot FILE');
    const snapshot = readSnapshot(await readJsonFile(context, snapshotFile));
    const log = await readLogFile(context, required(file), profile, false);
    const verdict = verifySnapshot(profile, log.nodes, snapshot);
    const line =
      verdict.verdict === 'differs' && verdict.at !== null ? log.lineNumbers[verdict.at.ordinal] : undefined;
    const told = sentence(verdict, line, snapshot.nodeHash.length, profile.name);
    const good = verdict.verdict === 'match';
    const error = good ? {} : errorToJson(fail('E_STAGES_DIFFER', told));
    const result = { ...verdict, line: line ?? null, profile: profile.name, ...error };
    await giveExact(context, result, () => `${told}\n`);
    return good ? 0 : 5;
  },
};

const sentence = (
  verdict: SnapshotVerdict,
  line: number | undefined,
  digits: number,
  profile: string,
): string => {
  switch (verdict.verdict) {
    case 'match':
      return `the log matches the snapshot: ${verdict.nodes} nodes`;
    case 'prefix':
      return `the first ${verdict.nodes} nodes of the log match the snapshot; ${verdict.beyond} more follow`;
    case 'truncated':
      return `the ${verdict.nodes} nodes of the log are the first of the snapshot, which has ${verdict.missing} more`;
    case 'inconsistent':
      return `the snapshot contradicts itself: ${verdict.reason}`;
    case 'differs': {
      if (verdict.at === null) {
        const hint =
          digits === (profile === 'stemma-1' ? 40 : 64)
            ? ': its hash belongs to the other profile, see --profile'
            : '';
        return `no prefix of the log has the hash of the snapshot${hint}`;
      }
      const { ordinal, expected, got } = verdict.at;
      const where = line === undefined ? '' : ` (line ${line})`;
      return printable(
        `node ${ordinal}${where} differs: ${got.id} ${got.digest}, in the snapshot ${expected.id} ${expected.digest}`,
      );
    }
  }
};
