import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail, isStemmaError, type StemmaError } from '@stemma/errors';
import { isList, type RequestForm } from '../request-form.ts';

/** The forms that a conversation may have. A list of messages that is no other's is of the first. */
export type Forms = readonly [RequestForm, ...RequestForm[]];

/** The body that holds a conversation, and the fields beside it. */
export type FoundConversation = {
  readonly form: RequestForm;
  readonly body: WideJsonObject;
  readonly besides: WideJsonObject;
};

/** How many objects deep a conversation is looked for: `{body: {messages: […]}}` is the second. */
const MOST_DEPTH = 3;

/** A conversation, or why there is none, and where in the value. */
export type FoundItem = { readonly where: string } & (
  { readonly conversation: FoundConversation } | { readonly fault: StemmaError }
);

/**
 * The conversations of a JSON value: a list of messages, the body of a request, an object that holds one of them somewhere
 * (`{id, traj: […]}`, `{body: {messages: […]}}`), or a list of either. Null: the value can only be one message, or nothing of
 * the kind.
 *
 * @throws E_INPUT_SHAPE for an object with several
 */
export const findConversations = (
  value: WideJson,
  where: string,
  forms: Forms,
): readonly FoundItem[] | null => {
  if (!isList(value)) {
    const conversation = wrapped(value, where, forms);
    return conversation === null ? null : [{ where, conversation }];
  }
  // The first item that is of some kind says what the others are expected to be.
  const known = value.find((item) => isMessage(item) || isConversation(item, forms));
  if (known === undefined || !isConversation(known, forms))
    return [{ where, conversation: ofList(value, {}, forms) }];
  return value.map((item, index) =>
    findItem(item, value.length === 1 ? where : `${where}, item ${index}`, forms),
  );
};

/** The conversation that an item of a list of conversations is. */
export const findItem = (item: WideJson, where: string, forms: Forms): FoundItem => {
  try {
    const conversation = isList(item) ? ofList(item, {}, forms) : wrapped(item, where, forms);
    if (conversation !== null) return { where, conversation };
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    return { where, fault: error };
  }
  return { where, fault: fail('E_INPUT_SHAPE', `${where} holds no list of messages, as others do`) };
};

/** True if the value may hold conversations. */
export const holdsConversations = (value: WideJson, forms: Forms): boolean => {
  if (!isList(value)) return isJsonObject(value) && conversationsIn(value, MOST_DEPTH, forms).length > 0;
  return value.length === 0 || value.some((item) => isList(item) || isJsonObject(item));
};

/** True if the value can only be a message. */
export const isMessage = (value: WideJson): value is WideJsonObject =>
  isJsonObject(value) && value['role'] !== undefined;

/** True for a list, and for an object that holds one or several and is no message. */
export const isConversation = (value: WideJson, forms: Forms): boolean => {
  if (!isJsonObject(value)) return isList(value);
  const [place] = conversationsIn(value, MOST_DEPTH, forms);
  return place !== undefined && (!isMessage(value) || place.path.length === 0);
};

const ofList = (messages: readonly WideJson[], besides: WideJsonObject, forms: Forms): FoundConversation => {
  const form = forms.find(({ isOwnList }) => isOwnList(messages)) ?? forms[0];
  return { form, body: form.bodyOf(messages), besides };
};

/** Where a conversation is in an object: a body, or a list of messages (then without a form). */
type Place = {
  readonly path: readonly string[];
  readonly form: RequestForm | null;
  /** What stands beside the input and is no part of a request: only the half of it would be read. */
  readonly half?: string;
};

const wrapped = (value: WideJson, where: string, forms: Forms): FoundConversation | null => {
  if (!isJsonObject(value)) return null;
  const found = conversationsIn(value, MOST_DEPTH, forms);
  const bodies = found.filter(({ form }) => form !== null);
  // Beside a request, a list of messages is what came back.
  const [place, another] = bodies.length === 1 ? bodies : found;
  if (place === undefined || (value['role'] !== undefined && place.path.length > 0)) return null;
  if (another !== undefined)
    throw fail(
      'E_INPUT_SHAPE',
      `${where} holds several lists of messages (${nameOf(place)}, ${nameOf(another)}): keep one, or call it messages`,
    );
  const { path, form, half } = place;
  if (half !== undefined)
    throw fail(
      'E_INPUT_SHAPE',
      `${where} has an input and its ${half}, as observations of a trace have: only the input would be read. Write what the model was shown as {"messages": […]}, with its answer as the last message`,
    );
  const inner = path.reduce<WideJson | undefined>((at, name) => (at as WideJsonObject)[name], value);
  if (form === null)
    return ofList(
      inner as readonly WideJson[],
      withoutFields(value, path.slice(0, -1), path.slice(-1)),
      forms,
    );
  const body = inner as WideJsonObject;
  return { form, body, besides: withoutFields(value, path, form.fields) };
};

const nameOf = ({ path, form }: Place): string =>
  [...path, ...(form === null ? [] : form.fields.slice(-1))].join('.');

/** What systems that observe calls name the answer to an input. */
const OUTPUTS = ['output', 'outputs'] as const;

/** The conversations in an object, those nearest to it: none deeper is looked for beside one. */
const conversationsIn = (value: WideJsonObject, depth: number, forms: Forms): readonly Place[] => {
  const own = forms.findLast(({ isBody }) => isBody(value));
  const half =
    value['input'] === undefined ? undefined : OUTPUTS.find((name) => (value[name] ?? null) !== null);
  if (own !== undefined)
    return [{ path: [], form: own, ...(half !== undefined && own.fields.includes('input') ? { half } : {}) }];
  const names = Object.keys(value);
  const here = names.filter((name) => isMessageList(value[name]));
  if (here.length > 0)
    return here.map((name) => ({
      path: [name],
      form: null,
      ...(half !== undefined && name === 'input' ? { half } : {}),
    }));
  if (depth === 1) return [];
  return names.flatMap((name) => {
    const inner = value[name];
    if (!isJsonObject(inner)) return [];
    return conversationsIn(inner, depth - 1, forms).map((place) => ({
      ...place,
      path: [name, ...place.path],
    }));
  });
};

/** A list that says of itself that it holds messages: each item has a role. */
const isMessageList = (value: WideJson | undefined): boolean =>
  isList(value) &&
  value.length > 0 &&
  value.every((item) => isJsonObject(item) && typeof item['role'] === 'string');

/** The object without these fields of what is at the path. */
const withoutFields = (
  value: WideJsonObject,
  [name, ...rest]: readonly string[],
  fields: readonly string[],
): WideJsonObject =>
  name === undefined
    ? Object.fromEntries(Object.entries(value).filter(([field]) => !fields.includes(field)))
    : { ...value, [name]: withoutFields(value[name] as WideJsonObject, rest, fields) };
