import { checkProof, parseProof } from '@stemma/operations';
import type { CommandSpec } from '../command.ts';
import { readText, required } from '../options.ts';
import { printable } from '../output.ts';
import { keyForChecking, MAX_NOTES } from './sources.ts';

export const check: CommandSpec = {
  name: 'check',
  summary: 'check a proof without the log; exit 5 if it does not show what it claims',
  arguments: [['<proof>', 'a file that stemma checkpoint prove wrote, or - for stdin']],
  options: [['--public-key <key>', 'the key that must have signed, or a file with it']],
  run: async (context, [path], options) => {
    const proof = parseProof(await readText(context, required(path), MAX_NOTES));
    const key = await keyForChecking(context, options);
    const shows = checkProof(proof, key);
    await context.output.result(
      { ok: true, shows, signature: key === null ? 'not checked' : key.name },
      () => `${printable(shows)}\n`,
    );
    return undefined;
  },
};
