import { text } from '../options.ts';
import { stepCommand } from '../step-command.ts';

export const commit = stepCommand(
  {
    name: 'commit',
    summary: 'end the cycle with a snapshot: what the model is shown',
    group: 'Change a context',
    place: 7,
    example: 'stemma commit mine',
    arguments: [],
    options: [['--turn <id>', 'the id of the sealed turn (default: a new id)']],
  },
  (_args, options) => {
    const turn = text(options, 'turn');
    return turn === undefined ? { op: 'commit' } : { op: 'commit', turn_id: turn };
  },
);
