import { isJsonObject, sameJson, type WideJson } from '@stemma/canonical';
import { isList, listOf, nonEmpty, objectOf } from '../fields.ts';
import { fieldsOf } from '../said/langchain-items.ts';
import { isLangChain } from '../said/langchain.ts';
import { shortHash } from '../short-hash.ts';

/** A message of a state. */
export type StateMessage = {
  readonly id: string | undefined;
  readonly value: WideJson;
};

/** True for the same message as it was: an edited one is another one. */
export const isUnchanged = (a: StateMessage, b: StateMessage): boolean =>
  a.id === b.id && sameJson(a.value, b.value);

/** By which a message as it stands there is known. */
export const nameOf = ({ id, value }: StateMessage): string => `${id ?? ''}\n${shortHash(value)}`;

const ROLES: ReadonlySet<WideJson | undefined> = new Set([
  ...['system', 'developer', 'user', 'assistant', 'tool', 'function'],
]);

/** True for a message of the chat API, which a state may hold as it is. */
const isChatMessage = (value: WideJson): boolean =>
  isJsonObject(value) && ROLES.has(value['role']) && value['content'] !== undefined;

const isMessage = (value: WideJson): boolean => isLangChain(value) || isChatMessage(value);

const messageOf = (value: WideJson): StateMessage => ({ id: nonEmpty(fieldsOf(value)['id']), value });

/** The messages of a channel; null: it holds something else, or nothing. */
export const messagesIn = (value: WideJson): readonly StateMessage[] | null =>
  isList(value) && value.length > 0 && value.every(isMessage) ? value.map(messageOf) : null;

/** True for what removes a message of a state: `RemoveMessage`. */
const isRemoval = (value: WideJson): boolean =>
  fieldsOf(value)['type'] === 'remove' || listOf(objectOf(value)['id']).at(-1) === 'RemoveMessage';

/** All messages, by the id of what removes them. */
const ALL = '__remove_all__';

/**
 * The messages of a channel of deltas when a step has ended: what its tasks wrote is added, a message with the id of another one takes its
 * position, `RemoveMessage` removes one, and `Overwrite` all.
 */
export const withWrites = (
  before: readonly StateMessage[],
  writes: readonly WideJson[],
): readonly StateMessage[] => {
  let state = [...before];
  for (const write of writes) {
    const over = objectOf(write)['__overwrite__'];
    if (over !== undefined) state = [];
    const given = over ?? write;
    for (const value of isList(given) ? given : [given]) {
      if (isRemoval(value)) {
        const id = nonEmpty(fieldsOf(value)['id']);
        state = id === ALL ? [] : state.filter((message) => message.id !== id);
      } else if (isMessage(value)) {
        const message = messageOf(value);
        const at = message.id === undefined ? -1 : state.findIndex(({ id }) => id === message.id);
        if (at >= 0) state[at] = message;
        else state.push(message);
      }
    }
  }
  return state;
};
