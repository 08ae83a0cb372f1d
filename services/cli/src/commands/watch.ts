import { toWireJson } from '@stemma/api';
import { ERRORS } from '@stemma/errors';
import type { WatchMessage } from '@stemma/queries';
import type { CommandSpec } from '../command.ts';
import { required } from '../options.ts';
import { oneLine } from '../output.ts';

export const watch: CommandSpec = {
  name: 'watch',
  summary: 'print what a selector matches and each later change, until Ctrl-C',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    ['<selector>', "a selector on the working state, or with @t0 on the newest snapshot: '@t0 ^seq .cb'"],
  ],
  options: [],
  run: async ({ findBranch: find, output, signal }, [name, selector]) => {
    const { home } = await find(name);
    const messages = home.questions.watch(required(name), required(selector), { signal });
    for await (const message of messages)
      await output.write(output.json ? toWireJson(message) + '\n' : describe(message));
    // It ends by being cancelled, or, which is no failure, when nobody reads it any more.
    return output.unread.aborted ? undefined : ERRORS.E_CANCELLED.exit;
  },
};

const describe = ({ position, first, ids, added, removed }: WatchMessage): string => {
  const lines = [
    ...removed.map((id) => `- ${oneLine(id, 200)}`),
    ...added.map((id) => `+ ${oneLine(id, 200)}`),
  ];
  const order = !first && lines.length === 0 ? ', in another order' : '';
  return [`${position.label}: ${ids.length} matched${order}`, ...lines.map((one) => `  ${one}`)]
    .map((one) => one + '\n')
    .join('');
};
