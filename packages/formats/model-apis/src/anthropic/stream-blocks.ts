import type { StreamBlock } from '../answer-stream.ts';

/** Texts and inputs of tools, each by its index. */
export const anthropicBlock: StreamBlock = (path, valueAt) => {
  const isText = path === 'delta.text' || path === 'content_block.text';
  if (!isText && path !== 'delta.partial_json') return null;
  return `${valueAt('index') ?? ''} ${isText ? 'text' : 'input'}`;
};
