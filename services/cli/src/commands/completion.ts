import { fail } from '@stemma/errors';
import type { CommandSpec, TopCommand } from '../command.ts';
import { completionScript, SHELLS } from '../completion-script.ts';
import { required } from '../options.ts';

/** @param commands all that there are, this one among them */
export const completionOf = (commands: () => Promise<readonly CommandSpec[]>): TopCommand => ({
  name: 'completion',
  summary: 'print a script by which a shell completes commands, options and names of histories',
  group: 'This program',
  example: 'source <(stemma completion bash)',
  arguments: [['<shell>', `the shell: ${SHELLS.join(', ')}`]],
  options: [],
  run: async ({ output }, [shell]) => {
    const known = SHELLS.find((each) => each === required(shell));
    if (known === undefined) throw fail('E_USAGE', `the shell must be one of ${SHELLS.join(', ')}`);
    const script = completionScript(known, await commands());
    if (output.json) await output.result({ shell: known, script }, () => '');
    else await output.writeLines(script);
    return undefined;
  },
});
