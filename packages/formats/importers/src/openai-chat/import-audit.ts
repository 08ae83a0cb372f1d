import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { addCount } from '../counts.ts';
import { addWarning, type Tally } from '../tally.ts';
import type { WarningCode } from '../warnings.ts';
import { KNOWN_FIELDS, KNOWN_PARTS } from './fields.ts';

/** Checks the messages of a conversation for the report. */
export type ImportAudit = {
  readonly tally: Tally;
  readonly addMessage: (message: WideJsonObject, where: string) => void;
  readonly finish: (messages: number, besides: WideJsonObject) => void;
};

/** The most calls that may wait for an answer at once; further calls are not checked, so that memory stays bounded. */
const MAX_WAITING = 10_000;

/** @param besides the fields beside the messages */
export const newImportAudit = (tally: Tally, besides: WideJsonObject): ImportAudit => {
  const model = typeof besides['model'] === 'string' ? besides['model'] : null;
  const missing = [
    ...(besides['tools'] === undefined ? ['tools'] : []),
    ...(model === null ? ['parameters'] : []),
  ];
  const waiting = new Map<string, string>();
  const nameless = newGroup();
  const unasked = newGroup();

  const auditAnswer = (message: WideJsonObject, where: string): void => {
    const { tool_call_id: id } = message;
    if (typeof id !== 'string') addTo(nameless, where);
    else if (!waiting.delete(id)) addTo(unasked, `${where} answers the call ${short(id)}`);
  };
  const auditCalls = (message: WideJsonObject, where: string): void => {
    const { tool_calls: calls } = message;
    if (!Array.isArray(calls)) return;
    for (const call of calls as readonly WideJson[]) {
      addCount(tally.read, 'calls');
      const id = isJsonObject(call) ? call['id'] : undefined;
      if (typeof id === 'string' && waiting.size < MAX_WAITING) waiting.set(id, where);
    }
  };
  return {
    tally,
    addMessage: (message, where) => {
      addCount(tally.read, 'messages');
      tally.summary.message(message['role'] as string, [message]);
      if (message['role'] === 'assistant') tally.summary.call({ model, fidelity: 'reconstructed', missing });
      addCount(tally.read, `role ${message['role'] as string}`);
      for (const name of Object.keys(message))
        if (!KNOWN_FIELDS.has(name)) addCount(tally.unknown, `field ${name}`);
      auditContent(tally, message['content'], where);
      if (message['role'] === 'tool') auditAnswer(message, where);
      auditCalls(message, where);
    },
    finish: (messages, besides) => {
      if (messages === 0) addWarning(tally, 'W_EMPTY', 'the conversation has no messages');
      warnOnce(tally, 'W_RESULT_WITHOUT_ID', nameless, {
        one: (first) => `${first} is a tool message without a tool_call_id`,
        several: 'tool messages have no tool_call_id; the first is',
      });
      warnOnce(tally, 'W_RESULT_WITHOUT_CALL', unasked, {
        one: (first) => `${first}, which was not made or is answered`,
        several: 'tool messages answer a call that was not made or is answered; first,',
      });
      for (const name of Object.keys(besides))
        addCount(messages === 0 ? tally.skipped : tally.unknown, `beside the messages ${name}`);
      const [unanswered] = waiting;
      // Calls whose answers name none are answered all the same.
      if (unanswered === undefined || nameless.count >= waiting.size) return;
      const first = `the call ${short(unanswered[0])} of ${unanswered[1]}`;
      warnOnce(
        tally,
        'W_CALL_WITHOUT_RESULT',
        { count: waiting.size, first },
        { one: () => `${first} has no answer`, several: 'calls have no answer; the first is' },
      );
    },
  };
};

/** What is warned of once: how many there are, and the first of them. */
type Group = { count: number; first: string };

const newGroup = (): Group => ({ count: 0, first: '' });

const addTo = (group: Group, what: string): void => {
  if (group.count === 0) group.first = what;
  group.count += 1;
};

const warnOnce = (
  tally: Tally,
  code: WarningCode,
  { count, first }: Group,
  { one, several }: { readonly one: (first: string) => string; readonly several: string },
): void => {
  if (count === 1) addWarning(tally, code, one(first));
  if (count > 1) addWarning(tally, code, `${count} ${several} ${first}`, count);
};

const auditContent = (tally: Tally, content: WideJson | undefined, where: string): void => {
  if (content === undefined || content === null || typeof content === 'string') return;
  if (!Array.isArray(content)) {
    addWarning(tally, 'W_VALUE_UNREAD', `${where} has a content that is neither text, null nor a list`);
    return;
  }
  for (const part of content as readonly WideJson[]) {
    const type = isJsonObject(part) && typeof part['type'] === 'string' ? part['type'] : 'without a type';
    addCount(KNOWN_PARTS.has(type) ? tally.read : tally.unknown, `part ${type}`);
  }
};

const short = (id: string): string => (id.length > 60 ? `${id.slice(0, 60)}…` : id);
