import { hash } from 'node:crypto';
import { compareExact, countCodePoints } from './code-points.ts';
import {
  isExactList,
  isExactObject,
  isFloat,
  isInteger,
  member,
  type ExactJson,
  type ExactObject,
} from './exact-json.ts';
import { nodeLabel } from './label.ts';
import { contentOf, textOf, trimmedMember, type StreamNode } from './node.ts';
import { printCanonical, quote } from './print-exact.ts';
import { hashText, type Profile } from './profile.ts';
import { isVolatileKey } from './sanitise.ts';
import { taskFacts, type TaskFacts } from './tasks.ts';

/**
 * All that the stages need of one node, computed once, without any text of its payload: plain data that a row can keep.
 * Only a preview needs the payload again.
 */
export type NodeFacts = {
  readonly id: string;
  readonly digest: string;
  readonly kind: string;
  readonly turn: ExactJson;
  readonly payloadHash: string;
  /** SHA-1 of the payload in both profiles: the tree view shows it for nodes that are not candidates. */
  readonly payloadSha1: string;
  readonly payloadShape: PayloadShape;
  readonly label: string;
  /** Only of a message whose payload is an object. */
  readonly message: MessageFacts | null;
  /** Only of a task event or subagent that names its task. */
  readonly task: TaskFacts | null;
};

/** The keys of an object, the length of a list, the type's name of any other value. */
export type PayloadShape = string | readonly string[] | readonly [number];

/** The HEADER fields of a message. */
export type MessageFacts = {
  /** Unchanged, untrimmed. */
  readonly role: string | null;
  readonly name: string | null;
  /** The speaker that it counts as for the pins. */
  readonly speaker: 'user' | 'assistant' | 'system' | null;
  readonly contentHash: string;
  /** Code points of a text, else null. */
  readonly contentLength: number | null;
  readonly toolCallCount: number | null;
  /** Present unless the tool calls are null or absent. */
  readonly toolCallsHash: string | null;
};

/** Describes a node; `ordinal` counts the recorded nodes before it. The cost is that of reading its payload once. */
export const describeNode = (profile: Profile, node: StreamNode, ordinal: number): NodeFacts => {
  const { kind, turn, payload } = node;
  const text = printCanonical(payload);
  const digest = hashText(
    profile,
    `{"kind":${quote(kind)},"payload":${text},"turn":${printCanonical(turn)}}`,
  );
  const payloadHash = hashText(profile, text);
  return {
    id: node.id ?? streamIdOf(ordinal, digest),
    digest,
    kind,
    turn,
    payloadHash,
    payloadSha1: profile.algorithm === 'sha1' ? payloadHash : hash('sha1', text, 'hex'),
    payloadShape: shapeOf(profile, payload),
    label: nodeLabel(profile, kind, payload),
    message:
      kind === 'message' && isExactObject(payload) ? messageFacts(profile, payload, payloadHash) : null,
    task: taskFacts(kind, payload),
  };
};

/** The id of a node without a given id. */
export const streamIdOf = (ordinal: number, digest: string): string =>
  `n${String(ordinal).padStart(8, '0')}_${digest.slice(0, 8)}`;

const shapeOf = ({ compat }: Profile, payload: ExactJson): PayloadShape => {
  if (isExactList(payload)) return [payload.length];
  if (isExactObject(payload))
    return Object.keys(payload)
      .filter((key) => compat || !isVolatileKey(key))
      .sort(compareExact);
  if (payload === null) return 'NoneType';
  if (typeof payload === 'string') return 'str';
  if (typeof payload === 'boolean') return 'bool';
  return isFloat(payload) ? 'float' : isInteger(payload) ? 'int' : 'object';
};

const messageFacts = (profile: Profile, payload: ExactObject, payloadHash: string): MessageFacts => {
  const content = contentOf(payload);
  const toolCalls = member(payload, 'tool_calls');
  return {
    role: textOf(profile, member(payload, 'role')),
    name: textOf(profile, member(payload, 'name')),
    speaker: speakerOf(trimmedMember(profile, payload, 'role')),
    contentHash: content === null ? payloadHash : hashText(profile, printCanonical(content)),
    contentLength: typeof content === 'string' ? countCodePoints(content) : null,
    toolCallCount: isExactList(toolCalls) ? toolCalls.length : null,
    toolCallsHash: toolCalls === null ? null : hashText(profile, printCanonical(toolCalls)),
  };
};

const speakerOf = (role: string | null): MessageFacts['speaker'] =>
  role === 'user' || role === 'assistant' || role === 'system' ? role : null;
