import { encodePublicKey } from '@stemma/merkle';
import { signLog } from '@stemma/operations';
import { check } from '../checkpoint/check.ts';
import { prove } from '../checkpoint/prove.ts';
import { keyForSigning, withLog, writeOut } from '../checkpoint/sources.ts';
import type { CommandSpec } from '../command.ts';

export const checkpoint: CommandSpec = {
  name: 'checkpoint',
  summary: 'sign what the log holds now, so that verify --since shows later that it only grew',
  arguments: [],
  options: [
    ['--key <file>', 'the key that signs (default: checkpoint.key in the home, made if it is not there)'],
    ['--out <file>', 'write the checkpoint to a file'],
  ],
  subcommands: [prove, check],
  run: (context, _args, options) =>
    withLog(context, async ({ log }) => {
      const key = await keyForSigning(context.directory, options, log.id);
      const progress = context.progress('bytes');
      const signed = await signLog(log, key, progress.count);
      progress.end();
      const publicKey = encodePublicKey(key);
      const { text, partitions } = signed;
      await writeOut(context, options, { log: log.id, publicKey, partitions, checkpoint: text }, text);
      context.output.say(`public key: ${publicKey}`);
      return undefined;
    }),
};
