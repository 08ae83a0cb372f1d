import { isJsonObject, parseWideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { defined } from '@stemma/values';
import { MAX_STDIN, readText, text } from '../options.ts';
import { stepCommand, nodeId } from '../step-command.ts';

export const replace = stepCommand(
  {
    name: 'replace',
    summary: 'replace the content or the data_* and content_* attributes of a node',
    group: 'Change a context',
    place: 4,
    example: "stemma replace mine m0 --content 'Be brief.'",
    arguments: [['<id>', 'the node, by id']],
    options: [
      ['--content <text>', 'the new content as text; - reads stdin'],
      [
        '--set <json>',
        'the new attributes as a JSON object: content, content_*, data_*; null sets an explicit null',
      ],
    ],
  },
  async ([id], options, context) => {
    const set = text(options, 'set');
    const content = text(options, 'content');
    if (set === undefined && content === undefined)
      throw fail('E_USAGE', 'the new content is missing: give --content or --set');
    const named = set === undefined ? {} : parseWideJson(set, '--set');
    if (!isJsonObject(named)) throw fail('E_USAGE', '--set must be a JSON object');
    const whole = content === '-' ? await readText(context, '-', MAX_STDIN) : content;
    return {
      op: 'replace',
      id: nodeId(id),
      set: { ...named, ...defined({ content: whole }) },
    };
  },
);
