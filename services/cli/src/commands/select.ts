import { LOOKING } from '../actor.ts';
import type { CommandLine } from '../command.ts';
import { required, whole } from '../options.ts';

export const select: CommandLine = {
  name: 'select',
  summary: "print the ids that a selector matches, in the thread's order",
  arguments: [
    ['<history>', 'a history or lineage, by id or name'],
    ['<selector>', "for example '@t0 ^seq .cb[role=\\'tool\\']' or '#cb:9a2f'"],
  ],
  options: [['--limit <n>', 'so many at the most'], ['--skip <n>', 'leave out the first so many'], LOOKING],
  run: async ({ line: find, output, observe }, [name, selector], options) => {
    const limit = whole(options, 'limit', { least: 0 });
    const skip = whole(options, 'skip', { least: 0 });
    const { home, line } = await find(name);
    const window = { ...(limit === undefined ? {} : { limit }), ...(skip === undefined ? {} : { skip }) };
    const { ids, position } = await home.select(line, required(selector), window);
    observe(line, 'selected', required(selector), position);
    await output.result(ids, () => ids.map((id) => id + '\n').join(''));
    return undefined;
  },
};
