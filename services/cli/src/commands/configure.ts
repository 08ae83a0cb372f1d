import { parseWideJson } from '@stemma/canonical';
import { required } from '../options.ts';
import { stepCommand } from '../step-command.ts';

export const configure = stepCommand(
  {
    name: 'configure',
    summary: 'set the pruning policy of a branch',
    group: 'Change a context',
    place: 9,
    example: 'stemma configure mine \'{"max_blocks":200,"keep_turns":4,"pins":[]}\'',
    arguments: [['<policy>', 'the policy: {"max_blocks":200,"keep_turns":4,"pins":[]}, or null for none']],
    options: [],
  },
  ([policy]) => ({ op: 'policy', policy: parseWideJson(required(policy), 'the policy') }),
);
