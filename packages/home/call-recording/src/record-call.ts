import type { Outcome } from '@stemma/command-handler';
import type { WideJson } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import { steeringOf, type Command, type Redaction } from '@stemma/history';
import {
  branchRefOf,
  findCommand,
  findSnapshot,
  readConfig,
  readPositionMeta,
  readTipSeq,
  type BranchRef,
  type Position,
  type TreeView,
} from '@stemma/history-store';
import { callSteps, redactMessages, threadBlocks, toOpenAIMessages } from '@stemma/importers';
import type { Projection } from '@stemma/projector';
import { findFrameSummary, listCallsAt } from '@stemma/read-models';
import type { Redactor } from '@stemma/redaction';
import type { PromptSummary } from '@stemma/events';
import { defined } from '@stemma/values';
import { comparableMessage } from '@stemma/model-apis';

import { positionBeforeChanges } from './position-before-changes.ts';
import { hashPrompt, promptOf } from './prompt-hash.ts';
import type { Call, CallOutcome } from './record-call-types.ts';
import type { CallFacts, CallStarter } from './start-call.ts';

/** Why a branch goes back before changes that a call does not show; they stay on the abandoned branch. */
const NOT_SHOWN = 'The next call was made without these changes.';

/** How often to try when another writer writes between the read and the write. */
const MAX_TRIES = 5;

/** The history that a call is recorded in. */
export type CallTarget = {
  position(branch: BranchRef, ref?: string): Promise<Position>;
  view(position: Position): Promise<TreeView>;
  submit(command: Command): Promise<Outcome>;
};

/**
 * Records a call: makes the draft show exactly its messages, by inserting new ones and removing those that the list
 * no longer has, and commits, so the snapshot is what was sent (context-tree §3, §4). All in one frame, so a call is
 * recorded whole or not at all. What an observer changed and the list does not show is not removed: the branch goes back
 * before it, and the changes stay on an abandoned branch.
 *
 * @throws E_CONFLICT, E_COMMAND_REUSED; E_SEALED if the list omits a core that an import sealed; E_INPUT_SHAPE,
 *   E_ROLE_UNKNOWN for an invalid message list
 */
export const recordCall = async (
  home: CallTarget,
  projection: Projection,
  { history, branchId }: BranchRef,
  { id, by, notes, messages: given, expected: asked, facts, redactions: before = [] }: Call,
  starter: CallStarter,
  redactor?: Redactor,
): Promise<CallOutcome> => {
  let branchRef = branchRefOf(history, branchId);
  let expected = asked;
  // What is recorded is what the list is compared with, so secrets go first.
  const { messages, found } =
    redactor === undefined
      ? { messages: given, found: [] }
      : await redactMessages(given, (nodes) => redactor.nodes(nodes));
  for (let tries = 1; ; tries++) {
    const position = await home.position(branchRef);
    const known = await projection.read((rows) => findCommand(rows, history, id));
    if (known !== undefined)
      return outcomeOfRepeated(home, projection, history, { id, messages, seq: known.seq });
    const view = await home.view(position);
    const { steps, messages: origins, ...counts } = callSteps(blocksOf(view), messages);
    const earlier = await projection.read((rows) => positionBeforeChanges(rows, view, steps));
    if (earlier !== undefined) {
      const { position: there } = await home.submit({
        id: `${id}.rollback`,
        history,
        branchId: branchRef.branchId,
        by,
        expected: expected ?? position.seq,
        steps: [{ op: 'rollback', to: earlier, description: NOT_SHOWN }],
      });
      const going = branchRef;
      branchRef = branchRefOf(history, there.branchId);
      await carrySteering(home, projection, { id, by }, going, branchRef);
      expected = undefined;
      continue;
    }
    const called =
      facts === undefined || steps.length > 0
        ? undefined
        : await calledBefore(home, projection, position, messages);
    const call =
      facts === undefined
        ? []
        : [await starter.step(branchRef, facts, steps, promptOfCall(facts, messages, origins))];
    const end = facts === undefined ? [] : starter.end(id, facts);
    try {
      const outcome = await home.submit({
        id,
        history,
        branchId: branchRef.branchId,
        by,
        ...defined({ notes }),
        expected: expected ?? position.seq,
        steps:
          called === undefined
            ? [...steps, { op: 'commit' }, ...call, ...end]
            : [
                ...call.map((step) => ({
                  ...step,
                  position: { branchId: called.branchId, seq: called.seq },
                })),
                ...end,
              ],
        redactions: placed(steps, origins, before, found),
      });
      if (facts !== undefined) starter.recorded(branchRef, outcome.events, outcome.seq, facts);
      return { ...outcome, ...counts };
    } catch (error) {
      if (expected !== undefined || tries >= MAX_TRIES || !isStemmaError(error, 'E_CONFLICT')) throw error;
    }
  }
};

/** A branch that goes back before a change is steered as it was. */
const carrySteering = async (
  home: CallTarget,
  projection: Projection,
  { id, by }: Pick<Call, 'id' | 'by'>,
  from: BranchRef,
  to: BranchRef,
): Promise<void> => {
  await home.position(to);
  const [before, after] = await projection.read((rows) => {
    const of = ({ history, branchId }: BranchRef): ReturnType<typeof steeringOf> =>
      steeringOf(readConfig(rows, history, branchId, readTipSeq(rows, history, branchId)).config);
    return [of(from), of(to)] as const;
  });
  const set = Object.fromEntries(Object.entries(before).filter(([key]) => after[key] === undefined));
  if (Object.keys(set).length === 0) return;
  await home.submit({
    id: `${id}.steer`,
    history: to.history,
    branchId: to.branchId,
    by,
    steps: [{ op: 'config', set }],
  });
};

const promptOfCall = (
  { found, hashes }: CallFacts,
  messages: readonly WideJson[],
  origins: readonly (number | null)[],
): PromptSummary | null =>
  found === undefined
    ? null
    : {
        ...found,
        origin: found.origin ?? null,
        ...promptOf(
          hashes ?? hashPrompt(found.scope, messages),
          origins.filter((at) => at !== null),
        ),
      };

/**
 * The newest snapshot, if it shows these messages and a call was made with it: the same request again is another attempt,
 * not another cycle.
 */
const calledBefore = async (
  home: CallTarget,
  projection: Projection,
  { history, branchId, seq }: Position,
  messages: readonly WideJson[],
): Promise<Position | undefined> => {
  const found = await projection.read((rows) => {
    const { cycle } = readPositionMeta(rows, history, branchId, seq).meta;
    const snapshot = findSnapshot(rows, history, branchId, seq, cycle);
    return snapshot !== undefined && listCallsAt(rows, history, snapshot).length > 0 ? cycle : undefined;
  });
  if (found === undefined) return undefined;
  const snapshot = await home.position(branchRefOf(history, branchId), `@c${found}`);
  const { steps } = callSteps(blocksOf(await home.view(snapshot)), messages);
  return steps.length === 0 ? snapshot : undefined;
};

/** What was taken out of the messages that the steps bring; of the others it was recorded before. */
export const placed = (
  steps: Command['steps'] | readonly Command['steps'][number][],
  origins: readonly (number | null)[],
  before: readonly Redaction[],
  found: readonly (readonly Redaction[])[],
): Redaction[] =>
  steps.flatMap((step, index) => {
    const message = origins[index];
    if (message === null || message === undefined) return [];
    const own = [...before.filter((one) => one.step === message), ...(found[message] ?? [])];
    return own.flatMap((one): Redaction[] => {
      if (step.op !== 'replace') return [{ ...one, step: index }];
      return one.field === 'content' ? [{ ...one, step: index, node: step.id }] : [];
    });
  });

const blocksOf = ({ tree, payloads, thread }: TreeView) => threadBlocks(tree, payloads, thread);

/** The outcome of a repeated call. @throws E_COMMAND_REUSED if its frame shows other messages */
const outcomeOfRepeated = async (
  home: Pick<CallTarget, 'position' | 'view'>,
  projection: Projection,
  history: string,
  {
    id,
    messages,
    seq,
  }: { readonly id: string; readonly messages: readonly WideJson[]; readonly seq: number },
): Promise<CallOutcome> => {
  const { branchId } = await projection.read((rows) => findFrameSummary(rows, history, seq));
  const position = await home.position(branchRefOf(history, branchId), `@s${seq}`);
  const { tree, payloads, thread } = await home.view(position);
  const shown = toOpenAIMessages(tree, payloads, thread);
  if (comparableMessage(shown) !== comparableMessage([...messages]))
    throw fail(
      'E_COMMAND_REUSED',
      `the command id ${JSON.stringify(id)} belongs to another command, in frame ${seq}`,
      {
        seq,
      },
    );
  const events = await projection.payloads.events(history, seq);
  const count = (type: string): number => events.filter((event) => event.type === type).length;
  const [replaced, inserted] = [count('NodeReplaced'), countMessages(events)];
  return {
    history,
    branchId,
    seq,
    events,
    position,
    repeated: true,
    kept: messages.length - replaced - inserted,
    replaced,
    removed: count('NodeRemoved'),
    inserted,
  };
};

const countMessages = (events: Outcome['events']): number =>
  events.filter((event) => event.type === 'NodeInserted' && event.node['data_continues'] === undefined)
    .length;
