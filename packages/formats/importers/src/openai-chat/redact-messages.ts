import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { Redaction } from '@stemma/history';
import { chatMessageAt } from '@stemma/model-apis';
import { messageToNodes } from './message-to-nodes.ts';
import { blocksToMessages } from './nodes-to-messages.ts';

/** Nodes without their secrets, and what was taken out; `node` is the index of a node. */
type RedactNodes = (nodes: readonly WideJsonObject[]) => Promise<{
  readonly nodes: readonly WideJsonObject[];
  readonly redactions: readonly Redaction[];
}>;

/**
 * A message list without its secrets, and what was taken out of each message. They are taken out of the nodes that a
 * message becomes, so that rules mean the same here as in every other command.
 *
 * @throws E_INPUT_SHAPE, E_ROLE_UNKNOWN, and what `redactNodes` throws
 */
export const redactMessages = async (
  messages: readonly WideJson[],
  redactNodes: RedactNodes,
): Promise<{ readonly messages: readonly WideJson[]; readonly found: readonly (readonly Redaction[])[] }> => {
  const done: WideJson[] = [];
  const found: (readonly Redaction[])[] = [];
  for (const [i, value] of messages.entries()) {
    const message = chatMessageAt(value, `message ${i}`);
    const { nodes, redactions } = await redactNodes(messageToNodes(message, i));
    done.push(redactions.length === 0 ? message : messageOf(nodes));
    found.push(redactions);
  }
  return { messages: done, found };
};

const messageOf = (nodes: readonly WideJsonObject[]): WideJson => {
  const blocks = nodes.map(({ id, role, kind, nodeType: _type, ...payload }) => ({
    ...{ id: id as string, role: role as string, kind: kind as string, payload },
  }));
  return blocksToMessages(blocks)[0] ?? null;
};
