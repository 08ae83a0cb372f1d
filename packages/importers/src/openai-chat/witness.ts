import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { count, warn, type Tally } from '../tally.ts';
import { KNOWN_FIELDS, KNOWN_PARTS } from './fields.ts';

/** Watches the messages of a conversation go by and writes the report. */
export type Witness = {
  readonly tally: Tally;
  readonly see: (message: WideJsonObject, where: string) => void;
  readonly end: (messages: number, besides: WideJsonObject) => void;
};

/** Calls that may wait for an answer at once; more are not watched, so that memory stays bounded. */
const MAX_WAITING = 10_000;

export const newWitness = (tally: Tally): Witness => {
  const waiting = new Map<string, string>();

  const seeAnswer = (message: WideJsonObject, where: string): void => {
    const { tool_call_id: id } = message;
    if (typeof id !== 'string') warn(tally, `${where} is a tool message without a tool_call_id`);
    else if (!waiting.delete(id))
      warn(tally, `${where} answers the call ${short(id)}, which was not made or is answered`);
  };
  const seeCalls = (message: WideJsonObject, where: string): void => {
    const { tool_calls: calls } = message;
    if (!Array.isArray(calls)) return;
    for (const call of calls as readonly WideJson[]) {
      count(tally.read, 'calls');
      const id = isJsonObject(call) ? call['id'] : undefined;
      if (typeof id === 'string' && waiting.size < MAX_WAITING) waiting.set(id, where);
    }
  };
  return {
    tally,
    see: (message, where) => {
      count(tally.read, 'messages');
      count(tally.read, `role ${message['role'] as string}`);
      for (const name of Object.keys(message))
        if (!KNOWN_FIELDS.has(name)) count(tally.unknown, `field ${name}`);
      seeContent(tally, message['content'], where);
      if (message['role'] === 'tool') seeAnswer(message, where);
      seeCalls(message, where);
    },
    end: (messages, besides) => {
      if (messages === 0) warn(tally, 'the conversation has no messages');
      for (const name of Object.keys(besides))
        count(messages === 0 ? tally.skipped : tally.unknown, `beside the messages ${name}`);
      for (const [id, where] of waiting) warn(tally, `the call ${short(id)} of ${where} has no answer`);
    },
  };
};

const seeContent = (tally: Tally, content: WideJson | undefined, where: string): void => {
  if (content === undefined || content === null || typeof content === 'string') return;
  if (!Array.isArray(content)) {
    warn(tally, `${where} has a content that is neither text, null nor a list`);
    return;
  }
  for (const part of content as readonly WideJson[]) {
    const type = isJsonObject(part) && typeof part['type'] === 'string' ? part['type'] : 'without a type';
    count(KNOWN_PARTS.has(type) ? tally.read : tally.unknown, `part ${type}`);
  }
};

const short = (id: string): string => (id.length > 60 ? `${id.slice(0, 60)}…` : id);
