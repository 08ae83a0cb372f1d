import { canonicalJson, type WideJson, type WideJsonObject } from '@stemma/canonical';
import type { Step } from '@stemma/history';
import { comparableMessage, chatMessageAt } from '@stemma/model-apis';
import { defined } from '@stemma/values';
import { checkNode } from '../check-node.ts';
import { leadingSystem } from './leading-system.ts';
import { messageGroups } from './message-groups.ts';
import { messageToNodes } from './message-to-nodes.ts';
import type { RecordedBlock } from './message.ts';
import { blocksToMessages } from './nodes-to-messages.ts';

/** A block of the working state, in the order of the thread. */
export type CurrentBlock = RecordedBlock & { readonly inSys: boolean };

/**
 * The steps that change a working state to a message list, without a commit, and the counts of messages that they
 * change.
 */
export type CallSteps = {
  readonly steps: readonly Step[];
  /** The index of the message that each step brings; null for a step that removes one. */
  readonly messages: readonly (number | null)[];
  readonly kept: number;
  readonly replaced: number;
  readonly removed: number;
  readonly inserted: number;
};

/** A message in the tree: its blocks, and what it is compared by. */
export type RecordedMessage = { readonly blocks: readonly RecordedBlock[]; readonly json: string };

/**
 * The steps from a working state to the message list of the next call. Leading system messages are compared with the
 * nodes under `^sys`, where a rewritten one is replaced. Of the others, those that the list still begins with, in the
 * same order, are kept; messages that the list no longer has are removed; the rest is inserted at the end. Inserted
 * messages are not cores (`offset` 1): an agent may shorten its list, and sealed cores never change (context-tree §3).
 *
 * @throws E_INPUT_SHAPE, E_ROLE_UNKNOWN and the errors of {@link checkNode}
 */
export const callSteps = (current: readonly CurrentBlock[], messages: readonly WideJson[]): CallSteps => {
  const wanted = messages.map((message, i) => chatMessageAt(message, `message ${i}`));
  const head = leadingSystem(wanted);
  const inSys = recordedMessages(current.filter((block) => block.inSys));
  const others = recordedMessages(current.filter((block) => !block.inSys));
  const system = sysSteps(inSys, wanted.slice(0, head));
  const rest = keepOrderSteps(others, wanted.slice(head), head, '^ah');
  return {
    steps: [...system.steps, ...rest.steps],
    messages: [...system.messages, ...rest.messages],
    kept: system.kept + rest.kept,
    replaced: system.replaced,
    removed: system.removed + rest.removed,
    inserted: system.inserted + rest.inserted,
  };
};

/**
 * As {@link callSteps}, for a working state that shows exactly the first messages of the list, `known` of them, among these
 * all leading system messages; it is not looked at.
 */
export const appendSteps = (messages: readonly WideJson[], known: number): readonly Step[] =>
  messages
    .slice(known)
    .map((message, i) => insertStep(chatMessageAt(message, `message ${known + i}`), known + i, '^ah'));

/**
 * The messages that blocks are, and what each is compared by: an importer or recorder recorded which blocks continue another;
 * any other block is a message of its own.
 */
export const recordedMessages = (blocks: readonly RecordedBlock[]): RecordedMessage[] =>
  messageGroups(blocks).map((group) => ({
    blocks: group,
    json: comparableMessage(blocksToMessages(group)[0] ?? null),
  }));

/** Under `^sys`, messages are rewritten in place if their number is the same and only the text of one differs. */
const sysSteps = (current: readonly RecordedMessage[], wanted: readonly WideJsonObject[]): CallSteps => {
  const replaced: Step[] = [];
  const rewritten: number[] = [];
  if (current.length === wanted.length) {
    const fits = wanted.every((message, i) => {
      const { blocks, json } = current[i] as RecordedMessage;
      if (json === comparableMessage(message)) return true;
      const [block, more] = blocks;
      const [node, another] = messageToNodes(message, ordinalOf(block) ?? i);
      if (block === undefined || node === undefined || more !== undefined || another !== undefined)
        return false;
      const { id: _id, nodeType: _type, role, kind, content, ...payload } = node;
      const { content: _before, ...known } = block.payload;
      const alike =
        role === block.role && kind === block.kind && canonicalJson(payload) === canonicalJson(known);
      if (!alike || content === undefined) return false;
      replaced.push({ op: 'replace', id: block.id, set: { content } });
      rewritten.push(i);
      return true;
    });
    if (fits) {
      const kept = wanted.length - replaced.length;
      return {
        ...{ steps: replaced, messages: rewritten, kept, replaced: replaced.length, removed: 0, inserted: 0 },
      };
    }
  }
  return keepOrderSteps(current, wanted, 0, '^sys');
};

const ordinalOf = (block: RecordedBlock | undefined): number | undefined => {
  const note = block?.payload['data_message'] as { readonly ordinal?: WideJson } | undefined;
  return typeof note?.ordinal === 'number' ? note.ordinal : undefined;
};

/** Keeps the messages that the list begins with, in order; removes the others; inserts the rest at the end. */
const keepOrderSteps = (
  current: readonly RecordedMessage[],
  wanted: readonly WideJsonObject[],
  first: number,
  parent: '^ah' | '^sys',
): CallSteps => {
  const stays = new Set<RecordedMessage>();
  let next = 0;
  let kept = 0;
  for (; kept < wanted.length; kept++) {
    const json = comparableMessage(wanted[kept] as WideJsonObject);
    let at = next;
    while (at < current.length && current[at]?.json !== json) at++;
    const found = current[at];
    if (found === undefined) break;
    stays.add(found);
    next = at + 1;
  }
  const gone = current.filter((group) => !stays.has(group));
  const steps: Step[] = gone.flatMap(({ blocks }) => blocks.map(({ id }): Step => ({ op: 'remove', id })));
  const messages: (number | null)[] = steps.map(() => null);
  for (let i = kept; i < wanted.length; i++) {
    steps.push(insertStep(wanted[i] as WideJsonObject, first + i, parent));
    messages.push(first + i);
  }
  return { steps, messages, kept, replaced: 0, removed: gone.length, inserted: wanted.length - kept };
};

/**
 * The step that adds a message to the draft, behind those that were added so before, and before whatever an observer injects
 * (`offset` −1). @param ordinal how many messages are before it
 *
 * @throws E_INPUT_SHAPE, E_ROLE_UNKNOWN and the errors of {@link checkNode}
 */
export const draftStep = (message: WideJson, ordinal: number): InsertStep => {
  const { node, siblings, ...step } = insertStep(chatMessageAt(message, 'the message'), ordinal, '^ah');
  const before = (each: WideJsonObject): WideJsonObject => ({ ...each, offset: -1 });
  return {
    ...step,
    node: before(node),
    ...defined({ siblings: siblings?.map(before) }),
  };
};

type InsertStep = Extract<Step, { op: 'insert' }>;

const insertStep = (message: WideJsonObject, ordinal: number, parent: '^ah' | '^sys'): InsertStep => {
  const [node, ...siblings] = messageToNodes(message, ordinal).map(({ id: _id, ...each }) => ({
    ...each,
    ...(parent === '^ah' ? { offset: 1 } : {}),
  }));
  for (const each of [node, ...siblings]) checkNode(each as WideJsonObject, `message ${ordinal}`);
  return {
    op: 'insert',
    parent,
    node: node as WideJsonObject,
    ...(siblings.length === 0 ? {} : { siblings }),
  };
};
