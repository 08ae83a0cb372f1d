import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import type { Step } from '@stemma/history';
import { chatMessageAt } from '@stemma/model-apis';
import { checkNode } from '../check-node.ts';
import type { ImporterOutput, MakeFirstStep } from '../importer.ts';
import { addCount } from '../counts.ts';
import { importReport, newTally } from '../tally.ts';
import { MAPPING, SYSTEM_ROLES } from './fields.ts';
import { newImportAudit, type ImportAudit } from './import-audit.ts';
import { messageToNodes } from './message-to-nodes.ts';
import { openPartsReader } from './parts-to-messages.ts';

/** A conversation that is read message by message. */
export type ChatConversation = {
  /** The number of messages that were added so far. */
  readonly size: () => number;
  /** Adds the next message. @throws E_INPUT_SHAPE, E_ROLE_UNKNOWN and the errors of {@link checkNode} */
  readonly add: (message: WideJson, where: string) => Iterable<ImporterOutput>;
  /** The remaining steps, and the report. */
  readonly end: () => Iterable<ImporterOutput>;
};

const start: MakeFirstStep = (name, source) => ({ op: 'start', name, source });

/** The most messages in one command: a frame stays small even in a long conversation without a call. */
const MAX_MESSAGES = 1_000;

/** How far a conversation is read, and the steps that are not yielded yet. */
type ConversationState = {
  /** Messages that were added. */
  added: number;
  /** The number of the next message of the history. */
  ordinal: number;
  /** True once the first command is yielded. */
  begun: boolean;
  /** True after the first message that is none of the system's. */
  inHead: boolean;
  steps: Step[];
};

/** Starts a conversation. `besides`: the fields beside the messages; they are kept with the first message. `mapping`: how they were read. */
export const openConversation = (besides: WideJsonObject, mapping: string): ChatConversation => {
  const audit = newImportAudit(newTally(), besides);
  const fromParts = openPartsReader();
  const state: ConversationState = {
    added: 0,
    ordinal: 0,
    begun: false,
    inHead: false,
    steps: [],
  };

  const flush = (): ImporterOutput => {
    const { name: title } = besides;
    const output: ImporterOutput = {
      kind: 'steps',
      firstStep: state.begun ? null : start,
      steps: state.steps,
      mapping,
      ...(!state.begun && typeof title === 'string' ? { title } : {}),
    };
    state.begun = true;
    state.steps = [];
    return output;
  };
  function* add(value: WideJson, where: string): Iterable<ImporterOutput> {
    const messages = isJsonObject(value) ? fromParts(value) : [value];
    state.added += 1;
    for (const message of messages) yield* addMessage(chatMessageAt(message, where), where);
  }
  function* addMessage(message: WideJsonObject, where: string): Iterable<ImporterOutput> {
    const role = message['role'] as string;
    if (role === 'assistant') {
      state.steps.push({ op: 'commit', at_ns: 0n });
      addCount(audit.tally.read, 'cycles');
      yield flush();
    }
    state.inHead ||= !SYSTEM_ROLES.has(role);
    const given = { ordinal: state.ordinal, besides: state.ordinal === 0 ? besides : {}, mapping };
    const [node, ...siblings] = nodesOf(message, given, audit);
    for (const each of [node, ...siblings]) checkNode(each as WideJsonObject, where);
    state.steps.push({
      op: 'insert',
      parent: state.inHead ? '^ah' : '^sys',
      node: node as WideJsonObject,
      ...(siblings.length === 0 ? {} : { siblings }),
      at_ns: 0n,
    });
    audit.addMessage(message, where);
    state.ordinal += 1;
    if (state.steps.length >= MAX_MESSAGES) yield flush();
  }
  function* end(): Iterable<ImporterOutput> {
    if (state.steps.length > 0 || !state.begun) yield flush();
    audit.finish(state.ordinal, besides);
    yield { kind: 'report', report: importReport(mapping, audit.tally, true) };
  }
  return { size: () => state.added, add, end };
};

const nodesOf = (
  message: WideJsonObject,
  {
    ordinal,
    besides,
    mapping,
  }: { readonly ordinal: number; readonly besides: WideJsonObject; readonly mapping: string },
  audit: ImportAudit,
): WideJsonObject[] => {
  const nodes = messageToNodes(message, ordinal, { callsLast: mapping === MAPPING });
  addCount(audit.tally.read, 'blocks', nodes.length);
  if (Object.keys(besides).length > 0) nodes[0] = { ...nodes[0], data_conversation: besides };
  return nodes;
};
