import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { hasAny } from '../body.ts';
import { jsonText } from '../json-text.ts';

/**
 * An assistant message of some content blocks: each `tool_use` block is a tool call, all others are parts as they
 * stand. A call that was not behind all parts has `before`: so many parts were before it.
 */
export const assistantMessage = (blocks: readonly WideJson[]): WideJsonObject => {
  const parts: WideJson[] = [];
  const calls: { readonly call: WideJsonObject; readonly before: number }[] = [];
  for (const block of blocks) {
    const call = toolCall(block);
    if (call === null) parts.push(block);
    else calls.push({ call, before: parts.length });
  }
  if (calls.length === 0) return { role: 'assistant', content: parts };
  return {
    role: 'assistant',
    content: parts.length === 0 ? null : parts,
    tool_calls: calls.map(({ call, before }) => (before === parts.length ? call : { ...call, before })),
  };
};

/** The names that a tool call has for other things: a block with such a field is kept as a part. */
const TAKEN = ['function', 'before'];

const toolCall = (block: WideJson): WideJsonObject | null => {
  if (!isJsonObject(block) || block['type'] !== 'tool_use' || hasAny(block, TAKEN)) return null;
  const { type: _type, id, name, input, ...rest } = block;
  if (typeof id !== 'string' || typeof name !== 'string' || !isJsonObject(input)) return null;
  return { id, type: 'function', function: { name, arguments: jsonText(input) }, ...rest };
};
