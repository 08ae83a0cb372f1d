import { authorOfRequest, type AnswerOf, type Endpoints, type InputOf, positionAnswer } from '@stemma/api';
import { canonicalJson, parseWideJson, type WideJson } from '@stemma/canonical';
import { messageDifference, threadBytes } from '@stemma/context-tree';
import { parseCommand } from '@stemma/history';
import { branchRefOf, type Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';

type Preview = AnswerOf<Endpoints['preview']>;

type TriedFork = Awaited<ReturnType<Home['tryInFork']>>;

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
    const found = (await tried.difference()) ?? (await wholeDifference(home, position, tried));
    return {
      position: positionAnswer(position),
      same_first: found.sameFirst,
      before: found.before.map((text) => parseWideJson(text)),
      after: found.after.map((text) => parseWideJson(text)),
      same_last: found.sameLast,
      bytes_before: found.bytesBefore,
      bytes_after: found.bytesAfter,
    };
  };

/** As the difference of a tried fork, from both threads whole. */
const wholeDifference = async (
  home: Pick<Home, 'read'>,
  position: Position,
  tried: TriedFork,
): Promise<NonNullable<Awaited<ReturnType<TriedFork['difference']>>>> => {
  const { tree, payloads, thread } = await home.read.view(position);
  const [before, after] = [threadBytes(tree, payloads, thread), await tried.thread()];
  return {
    ...messageDifference(messagesIn(before), messagesIn(after)),
    ...{ bytesBefore: before.length, bytesAfter: after.length },
  };
};

const messagesIn = (thread: string): readonly string[] =>
  (parseWideJson(thread) as readonly WideJson[]).map(canonicalJson);
