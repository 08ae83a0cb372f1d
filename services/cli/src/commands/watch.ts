import { toWireJson } from '@stemma/api';
import { ERRORS } from '@stemma/errors';
import type { Position } from '@stemma/history-store';
import type { WatchMessage } from '@stemma/queries';
import type { TopCommand } from '../command.ts';
import { openExcerpts, withExcerpt, type WordsOfNode } from '../excerpts.ts';
import { required } from '../options.ts';
import { oneLine } from '../output.ts';

export const watch: TopCommand = {
  name: 'watch',
  summary: 'print what a selector matches and each later change, until Ctrl-C',
  group: 'Ask why',
  place: 10,
  example: 'stemma watch mine "^ah .cb[role=\'tool\']"',
  arguments: [
    ['<history>', 'a history or branch, by id or name'],
    ['<selector>', "a selector on the working state, or with @t0 on the newest snapshot: '@t0 ^seq .cb'"],
  ],
  options: [],
  run: async ({ findBranch: find, output, signal }, [name, selector]) => {
    const { home } = await find(name);
    let before: Position | undefined;
    const messages = home.queries.questions.watch(required(name), required(selector), { signal });
    for await (const message of messages) {
      if (output.json) {
        await output.write(toWireJson(message) + '\n');
        continue;
      }
      const { position, added, removed } = message;
      const views = [await home.read.partialView(position, [...added, ...removed])];
      // What is removed is there before only.
      if (before !== undefined && removed.length > 0)
        views.push(await home.read.partialView(before, removed));
      await output.write(describe(message, openExcerpts(...views), output.width));
      before = position;
    }
    // It ends by being cancelled, or, which is no failure, when nobody reads it any more.
    return output.unread.aborted ? undefined : ERRORS.E_CANCELLED.exit;
  },
};

const describe = (
  { position, first, ids, added, removed }: WatchMessage,
  words: WordsOfNode,
  width: number,
): string => {
  const line = (sign: string, id: string): string =>
    withExcerpt(`${sign} ${oneLine(id, 200)}`, id, words, width - 2);
  const lines = [...removed.map((id) => line('-', id)), ...added.map((id) => line('+', id))];
  const order = !first && lines.length === 0 ? ', in another order' : '';
  return [`${position.label}: ${ids.length} matched${order}`, ...lines.map((one) => `  ${one}`)]
    .map((one) => one + '\n')
    .join('');
};
