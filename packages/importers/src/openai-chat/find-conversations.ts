import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';

/** The messages of a conversation, and the fields beside them. */
export type FoundConversation = {
  readonly messages: readonly WideJson[];
  readonly besides: WideJsonObject;
};

/** How many objects deep a list of messages is looked for: `{body: {messages: […]}}` is the second. */
const MOST_DEPTH = 3;

/**
 * The conversations of a JSON value: a list of messages, an object that holds one somewhere (`{messages: […]}`, `{id, traj:
 * […]}`, `{body: {messages: […]}}`), or a list of either. Null: the value can only be one message, or nothing of the kind.
 *
 * @throws E_INPUT_SHAPE for a list of conversations that also holds something else, and for an object with several lists
 */
export const findConversations = (value: WideJson, where: string): readonly FoundConversation[] | null => {
  if (!Array.isArray(value)) {
    const found = wrapped(value, where);
    return found === null ? null : [found];
  }
  const items = value as readonly WideJson[];
  const [first] = items;
  // What is no list of conversations is a list of messages; what is wrong with one of them is said of that message.
  if (first === undefined || !(Array.isArray(first) || wrapped(first, where) !== null))
    return [{ messages: items, besides: {} }];
  return items.map((item, index) => {
    if (Array.isArray(item)) return { messages: item as readonly WideJson[], besides: {} };
    const found = wrapped(item, `${where}, item ${index}`);
    if (found !== null) return found;
    throw fail('E_INPUT_SHAPE', `${where}, item ${index} holds no list of messages, as the first one does`);
  });
};

/** True if the value may hold conversations. */
export const holdsConversations = (value: WideJson): boolean => {
  if (Array.isArray(value)) {
    const items = value as readonly WideJson[];
    return Array.isArray(items[0]) || items.every(isJsonObject);
  }
  return isJsonObject(value) && (isList(value['messages']) || listsIn(value, MOST_DEPTH).length > 0);
};

type Path = readonly string[];

const wrapped = (value: WideJson, where: string): FoundConversation | null => {
  if (!isJsonObject(value)) return null;
  const { messages, ...besides } = value;
  if (isList(messages)) return { messages, besides };
  if (value['role'] !== undefined) return null;
  const [path, another] = listsIn(value, MOST_DEPTH);
  if (path === undefined) return null;
  if (another !== undefined)
    throw fail(
      'E_INPUT_SHAPE',
      `${where} holds several lists of messages (${path.join('.')}, ${another.join('.')}): keep one, or call it messages`,
    );
  return { messages: valueAt(value, path) as readonly WideJson[], besides: without(value, path) };
};

/** The paths of the lists of messages in an object, those nearest to it: none deeper is looked for beside one. */
const listsIn = (value: WideJsonObject, depth: number): readonly Path[] => {
  const names = Object.keys(value);
  const here = names.filter((name) => isMessageList(value[name]));
  if (here.length > 0) return here.map((name) => [name]);
  if (depth === 1) return [];
  return names.flatMap((name) => {
    const inner = value[name];
    if (!isJsonObject(inner)) return [];
    const named = isList(inner['messages']) ? [['messages']] : listsIn(inner, depth - 1);
    return named.map((path) => [name, ...path]);
  });
};

const isList = (value: WideJson | undefined): value is readonly WideJson[] => Array.isArray(value);

/** A list that says of itself that it holds messages: each item has a role. */
const isMessageList = (value: WideJson | undefined): boolean =>
  isList(value) &&
  value.length > 0 &&
  value.every((item) => isJsonObject(item) && typeof item['role'] === 'string');

const valueAt = (value: WideJson, path: Path): WideJson | undefined => {
  let at: WideJson | undefined = value;
  for (const name of path) at = (at as WideJsonObject)[name];
  return at;
};

const without = (value: WideJsonObject, [name = '', ...rest]: Path): WideJsonObject => {
  const { [name]: inner, ...others } = value;
  return rest.length === 0 ? others : { ...others, [name]: without(inner as WideJsonObject, rest) };
};
