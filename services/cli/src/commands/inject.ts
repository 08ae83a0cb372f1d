import { INJECTED_ROLES } from '@stemma/history';
import { defined } from '@stemma/values';
import type { TopCommand } from '../command.ts';
import { MAX_STDIN, readText, required, text, whole } from '../options.ts';
import { AUTHOR_OPTIONS, printOutcome, submitSteps } from '../submit.ts';

export const inject: TopCommand = {
  name: 'inject',
  summary: 'inject a message into the open cycle',
  group: 'Change a context',
  place: 1,
  example: "stemma inject mine 'Answer in one sentence.' --role system",
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    ['<text>', 'the message; - reads stdin'],
  ],
  options: [
    ['--source <name>', 'the source of the message (default: manual)'],
    ['--node <id>', 'the id of the block (default: a new id)'],
    ['--parent <id>', 'the parent: ^ah, ^sys, or the id of a container or turn (default: ^ah)'],
    ['--role <role>', `the role: ${INJECTED_ROLES.join(', ')}`],
    ['--kind <kind>', 'the kind: text, call, result … (default: text)'],
    ['--offset <n>', 'the order around the core: < 0 before, > 0 after (default: 0)'],
    ['--ttl <n>', 'the number of further snapshots that keep it (default: unlimited)'],
    ['--vector <n>', 'the number of the vector in a pool'],
    ...AUTHOR_OPTIONS.filter(([syntax]) => !syntax.startsWith('--recorder')),
  ],
  run: async (context, [name, message], options) => {
    const given = required(message);
    const body = given === '-' ? await readText(context, '-', MAX_STDIN) : given;
    const [offset, ttl, vector] = [
      whole(options, 'offset'),
      whole(options, 'ttl', { least: 0 }),
      whole(options, 'vector', { least: 0 }),
    ];
    const said = Object.fromEntries(
      (['source', 'role', 'kind'] as const).flatMap((each) => {
        const value = text(options, each);
        return value === undefined ? [] : [[each, value]];
      }),
    );
    const [id, parent] = [text(options, 'node'), text(options, 'parent')];
    const outcome = await submitSteps(
      context,
      await context.findBranch(name),
      [
        {
          op: 'inject',
          text: body,
          ...said,
          ...defined({ id, parent: parent?.replace(/^#/, ''), offset, ttl, vector_id: vector }),
        },
      ],
      options,
    );
    await printOutcome(context, outcome);
    return undefined;
  },
};
