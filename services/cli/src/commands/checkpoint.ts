import { signWithKeyFile } from '@stemma/operations';
import { check } from '../checkpoint/check.ts';
import { prove } from '../checkpoint/prove.ts';
import { keyPath, withLog, writeOut } from '../checkpoint/sources.ts';
import type { TopCommand } from '../command.ts';

export const checkpoint: TopCommand = {
  name: 'checkpoint',
  summary: 'sign what the log holds now, so that verify --since shows later that it only grew',
  group: 'Check and mend',
  place: 4,
  example: 'stemma checkpoint > monday.checkpoint',
  arguments: [],
  options: [
    ['--key <file>', 'the key that signs (default: checkpoint.key in the home, made if it is not there)'],
    ['--out <file>', 'write the checkpoint to a file'],
  ],
  subcommands: [prove, check],
  run: (context, _args, options) =>
    withLog(context, async ({ log }) => {
      const progress = context.progress('bytes');
      const signed = await signWithKeyFile(
        log,
        context.directory,
        keyPath(context.directory, options),
        progress.count,
      );
      progress.end();
      await writeOut(context, options, signed, signed.checkpoint);
      context.output.say(`public key: ${signed.publicKey}`);
      return undefined;
    }),
};
