import { fail } from '@stemma/errors';
import { proveFrame, proveGrowth, signWithKeyFile, type LogProof } from '@stemma/operations';
import type { CommandSpec } from '../command.ts';
import { readText, text } from '../options.ts';
import { frameOf, keyPath, MAX_NOTES, withLog, writeOut } from './sources.ts';

export const prove: CommandSpec = {
  name: 'prove',
  summary: 'prove that a frame is in a checkpoint, or that one checkpoint continues another',
  arguments: [],
  options: [
    ['--frame <history@seq>', 'prove that this frame is in the log'],
    [
      '--show-frame',
      'with --frame: prove also which frame of which history it is; the proof then holds the frame, for all to read',
    ],
    ['--at <checkpoint>', 'with --frame: in this checkpoint (default: in one that is signed now)'],
    [
      '--consistency <checkpoints...>',
      'two files, the older first: prove that the log only grew between them',
    ],
    ['--key <file>', 'the key that signs (default: checkpoint.key in the home, made if it is not there)'],
    ['--out <file>', 'write the proof to a file'],
  ],
  run: async (context, _args, options) => {
    const frame = text(options, 'frame');
    const files = options['consistency'] as readonly string[] | undefined;
    if ((frame === undefined) === (files === undefined) || (files !== undefined && files.length !== 2))
      throw fail('E_USAGE', 'prove needs --frame HISTORY@SEQ or --consistency OLDER NEWER');
    if (options['showFrame'] === true && frame === undefined)
      throw fail('E_USAGE', '--show-frame needs --frame HISTORY@SEQ');
    const read = (path: string): Promise<string> => readText(context, path, MAX_NOTES);
    const proof = await (frame === undefined ? proveBetween() : proveOne(frame));
    await writeOut(context, options, proof, `${JSON.stringify(proof, null, 2)}\n`);
    return undefined;

    async function proveBetween(): Promise<LogProof> {
      const [older, newer] = [await read(files?.[0] ?? ''), await read(files?.[1] ?? '')];
      return withLog(context, ({ log }) => proveGrowth(log, older, newer));
    }
    async function proveOne(given: string): Promise<LogProof> {
      const { name, seq } = frameOf(given);
      const { history } = (await context.findBranch(name)).branchRef;
      const at = text(options, 'at');
      return withLog(context, async ({ log }) => {
        const checkpoint =
          at === undefined
            ? (await signWithKeyFile(log, context.directory, keyPath(context.directory, options))).checkpoint
            : await read(at);
        return proveFrame(log, history, seq, checkpoint, options['showFrame'] === true);
      });
    }
  },
};
