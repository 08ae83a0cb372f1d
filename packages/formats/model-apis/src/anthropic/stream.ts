import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { errorOf, NO_ANSWER, type AnswerError } from '../answer.ts';
import { guarded, objectOrEmpty, textOrNull, wellFormedJson } from '../body.ts';
import { copyOf, copyOfObject, grow, inOrder, type Growing } from '../growing.ts';
import type { AnswerStream } from '../answer-stream.ts';
import { anthropicAnswer } from './answer.ts';

/** A content block that grows; `json` is the text of its input so far. */
type OpenBlock = { readonly block: Growing; json: string };

/** The events of Anthropic's API, which `message_stop` ends. */
export const openAnthropicStream = (): AnswerStream => {
  let message: Growing | null = null;
  const blocks = new Map<number, OpenBlock>();
  let error: AnswerError | null = null;
  let complete = false;
  const add = (event: WideJsonObject): void => {
    const { index } = event;
    switch (textOrNull(event['type'])) {
      case 'message_start':
        message = copyOfObject(event['message']);
        break;
      case 'content_block_start': {
        const block = copyOfObject(event['content_block']);
        if (block !== null && typeof index === 'number') blocks.set(index, { block, json: '' });
        break;
      }
      case 'content_block_delta': {
        const open = typeof index === 'number' ? blocks.get(index) : undefined;
        if (open !== undefined) addDelta(open, objectOrEmpty(event['delta']));
        break;
      }
      case 'message_delta':
        if (message !== null) addToMessage(message, event);
        break;
      case 'message_stop':
        complete = true;
        break;
      case 'error':
        error ??= errorOf(event['error']);
        break;
      // `ping`, `content_block_stop`, and what the API may add later.
      default:
    }
  };
  return {
    add,
    done: () => undefined,
    answer: () =>
      message === null
        ? { ...NO_ANSWER, error }
        : { ...anthropicAnswer({ ...message, content: inOrder(blocks).map(closed) }), error, complete },
  };
};

const addDelta = (open: OpenBlock, { type, ...fields }: WideJsonObject): void => {
  if (type === 'input_json_delta') open.json += textOrNull(fields['partial_json']) ?? '';
  else if (type === 'citations_delta') grow(open.block, 'citations', [fields['citation'] ?? null]);
  else for (const [name, value] of Object.entries(fields)) grow(open.block, name, value);
};

/** Usage is cumulative: each count replaces the one before it. */
const addToMessage = (
  message: Growing,
  { delta, usage, context_management: edited }: WideJsonObject,
): void => {
  replace(message, delta);
  if (edited !== undefined && edited !== null) message['context_management'] = copyOf(edited);
  const counts = copyOfObject(message['usage']) ?? {};
  replace(counts, usage);
  message['usage'] = counts;
};

const replace = (target: Growing, fields: WideJson | undefined): void => {
  if (!isJsonObject(fields)) return;
  for (const [name, value] of Object.entries(fields)) if (value !== null) target[name] = copyOf(value);
};

/** The block with its input; with the text of it if that is no JSON, as after an early end. */
const closed = ({ block, json }: OpenBlock): WideJsonObject => {
  if (json === '') return block;
  const input = guarded(() => ({ ok: true, value: wellFormedJson(json, 'an input') }) as const);
  return { ...block, input: input.ok ? input.value : json };
};
