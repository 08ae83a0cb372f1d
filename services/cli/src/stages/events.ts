import { printPlain } from '@stemma/stages';
import type { CommandSpec } from '../command.ts';
import { required } from '../options.ts';

const HEADER = '{"_type":"ctree_eventlog_header","schema_version":"0.1"}\n';

export const stagesEvents: CommandSpec = {
  name: 'events',
  summary: 'print the node stream of a history as an event log (JSONL) that compiles to the same hashes',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    ['[ref]', 'a position: @t0 @t-1 @c12 @s57 @name:NAME (default: the working state)'],
  ],
  options: [],
  run: async (context, [name, ref]) => {
    const { home, branchRef } = await context.findBranch(required(name));
    const position = await home.position(branchRef, ref as string | undefined);
    await context.output.write(HEADER);
    for await (const event of home.queries.stages.eventLog(position)) {
      context.signal.throwIfAborted();
      await context.output.write(printPlain(event) + '\n');
    }
    return undefined;
  },
};
