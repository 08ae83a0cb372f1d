import type { StreamBlock } from '../answer-stream.ts';

const CHAT_TEXT =
  /^(choices\.\d+)\.delta\.(content|refusal|reasoning|reasoning_content|function_call\.arguments)$/;
const CHAT_CALL = /^(choices\.\d+)\.(delta\.tool_calls\.\d+)\.(?:function\.arguments|custom\.input)$/;

/** A delta without an index belongs to the last call, unless it has a new id. */
export const openChatBlocks = (): StreamBlock => {
  let last = { index: 0, id: '' };
  return (path, valueAt) => {
    const text = CHAT_TEXT.exec(path);
    if (text !== null) return `${valueAt(`${text[1] ?? ''}.index`) ?? '0'} ${text[2] ?? ''}`;
    const call = CHAT_CALL.exec(path);
    if (call === null) return null;
    const delta = `${call[1] ?? ''}.${call[2] ?? ''}`;
    const id = valueAt(`${delta}.id`) ?? '';
    const index = valueAt(`${delta}.index`);
    if (index !== null) last = { index: Number(index), id };
    else if (id !== '' && id !== last.id) last = { index: last.index + (last.id === '' ? 0 : 1), id };
    return `${valueAt(`${call[1] ?? ''}.index`) ?? '0'} call ${last.index}`;
  };
};
