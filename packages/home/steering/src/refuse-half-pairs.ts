import { isJsonObject, type WideJson } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { isSteered, parseCommand, type Command } from '@stemma/history';
import { branchRefOf, readConfig, readTipSeq, type Position } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { threadIndexes, type Headers, type Payload } from '@stemma/context-tree';
import type { SteeredHome } from './types.ts';

/**
 * Refuses a command of an observer that takes a tool call, or its result, from a branch whose calls are steered, and leaves the
 * other: no API takes such a request.
 *
 * @param forked the position that the command's branch would be forked at; by default the branch is there
 * @throws E_TOOL_PAIR, E_COMMAND_INVALID
 */
export const refuseHalfPairs = async (
  home: SteeredHome,
  projection: Projection,
  command: Command,
  forked?: Position,
): Promise<void> => {
  // Nobody has read the steps yet; of other commands the decision says what is wrong.
  if (!command.steps.some(({ op }) => op === 'remove')) return;
  const { by, history, branchId, steps } = parseCommand(command);
  if (!('actor' in by)) return;
  const removed = new Set(steps.flatMap((step) => (step.op === 'remove' ? [step.id] : [])));
  // A result that another takes the place of is not taken away.
  const answeredAnew = new Set(
    steps.flatMap((step) => (step.op === 'insert' ? [step.node['data_tool_call_id']] : [])),
  );
  const steered = await projection
    .read((rows) =>
      isSteered(
        forked === undefined
          ? readConfig(rows, history, branchId, readTipSeq(rows, history, branchId)).config
          : readConfig(rows, history, forked.branchId, forked.seq).config,
      ),
    )
    // What is wrong with the branch, the decision says.
    .catch(() => false);
  if (!steered) return;
  const shown = forked ?? (await home.position(branchRefOf(history, branchId)));
  const { tree, payloads, thread } = await home.view(shown);
  const [calls, results] = [new Map<string, string>(), new Map<string, string>()];
  for (const index of threadIndexes(tree, thread)) {
    const { id, kind } = tree.headers[index] as Headers;
    const ref = tree.payloads[index] ?? null;
    if (ref === null || (kind !== 'call' && kind !== 'result')) continue;
    const call = callOf(kind, payloads(ref));
    if (call !== null) (kind === 'call' ? calls : results).set(call, id);
  }
  for (const [call, id] of calls) {
    const result = results.get(call);
    if (result === undefined || answeredAnew.has(call) || removed.has(id) === removed.has(result)) continue;
    const [gone, other] = removed.has(id) ? ['the call', 'its result'] : ['the result', 'its call'];
    throw fail(
      'E_TOOL_PAIR',
      `${gone} of ${call} cannot be removed without ${other}, ${removed.has(id) ? result : id}: the branch is steered, and no API takes one without the other`,
      { id: removed.has(id) ? id : result, other: removed.has(id) ? result : id },
    );
  }
};

const callOf = (kind: 'call' | 'result', payload: Payload): string | null => {
  const { content = null, data_tool_call_id: answered } = payload as {
    readonly [name: string]: WideJson | undefined;
  };
  if (kind === 'result') return typeof answered === 'string' ? answered : null;
  const id = isJsonObject(content) ? content['id'] : undefined;
  return typeof id === 'string' ? id : null;
};
