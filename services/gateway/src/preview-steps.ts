import { authorOfRequest, type AnswerOf, type Endpoints, type InputOf, positionAnswer } from '@stemma/api';
import { canonicalJson, parseWideJson, type WideJson } from '@stemma/canonical';
import { threadBytes } from '@stemma/context-tree';
import { parseCommand } from '@stemma/history';
import { branchRefOf } from '@stemma/history-store';
import type { Home } from '@stemma/home';

type Preview = AnswerOf<Endpoints['preview']>;

/** What the model would be shown after steps at a position, beside what it is shown without them; nothing is recorded. */
export const previewSteps =
  (home: Home) =>
  async ({ history: name, body }: InputOf<Endpoints['preview']>): Promise<Preview> => {
    const position = await home.position(await home.find(name), body.at);
    const { history, branchId } = position;
    const written = authorOfRequest(body);
    const branchRef = branchRefOf(history, branchId);
    const resolved = await home.branches.resolveSteps(branchRef, 'none', body.steps);
    const { steps } = parseCommand({ id: 'none', history, branchId, ...written, steps: [...resolved.steps] });
    const tried = await home.tryInFork(position, { ...written, steps });
    const found = await tried.difference();
    if (found !== undefined)
      return {
        position: positionAnswer(position),
        same_first: found.sameFirst,
        before: found.before.map((text) => parseWideJson(text)),
        after: found.after.map((text) => parseWideJson(text)),
        same_last: found.sameLast,
        bytes_before: found.bytesBefore,
        bytes_after: found.bytesAfter,
      };
    const { tree, payloads, thread } = await home.read.view(position);
    const [before, after] = [threadBytes(tree, payloads, thread), await tried.thread()];
    return {
      position: positionAnswer(position),
      ...betweenOf(messagesIn(before), messagesIn(after)),
      bytes_before: before.length,
      bytes_after: after.length,
    };
  };

const messagesIn = (thread: string): readonly WideJson[] => parseWideJson(thread) as readonly WideJson[];

/** What differs between two lists of messages, without what both begin and end with. */
const betweenOf = (
  before: readonly WideJson[],
  after: readonly WideJson[],
): Pick<Preview, 'same_first' | 'before' | 'after' | 'same_last'> => {
  const [old, fresh] = [before.map(canonicalJson), after.map(canonicalJson)];
  const most = Math.min(old.length, fresh.length);
  let first = 0;
  while (first < most && old[first] === fresh[first]) first++;
  let last = 0;
  while (last < most - first && old.at(-1 - last) === fresh.at(-1 - last)) last++;
  return {
    same_first: first,
    before: before.slice(first, before.length - last),
    after: after.slice(first, after.length - last),
    same_last: last,
  };
};
