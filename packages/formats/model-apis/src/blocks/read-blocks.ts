import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import { defined } from '@stemma/values';
import { fieldsUnder, isList } from '../body.ts';
import type { BlockForm, BlockReader } from './block-form.ts';

/**
 * The messages of an API of blocks in the form of OpenAI's chat API. A user message is cut at the results of tools among its
 * blocks: each becomes a `tool` message, the blocks between them user messages. A message after a `tool` message belongs to the
 * same message as that one, and any other does not; where it is otherwise, `same_message` says so. Fields of a message
 * that the form does not know are under `message_fields` of its first piece.
 *
 * @param pieces the messages that one becomes: {@link piecesOf}, or one that remembers them
 * @throws E_INPUT_SHAPE, E_ROLE_UNKNOWN
 */
export const blockMessages = (
  form: BlockForm,
  system: WideJson | undefined,
  messages: WideJson | undefined,
  pieces: MessagePieces = (value, where) => piecesOf(form, value, where),
): WideJsonObject[] => {
  if (!isList(messages))
    throw fail(
      'E_INPUT_SHAPE',
      `the request has no list of ${form.list === 'messages' ? 'messages' : form.list}`,
    );
  const mapped: WideJsonObject[] =
    system === undefined || system === null ? [] : [{ role: 'system', content: form.readSystem(system) }];
  for (const { from, to } of itemRuns(form, messages)) {
    const run = messages.slice(from, to);
    const where = `message ${from}`;
    const read = run.length === 1 ? pieces(run[0] as WideJson, where) : [joinedMessage(form, run, where)];
    const before = mapped.at(-1)?.['role'];
    for (const [piece, message] of read.entries())
      mapped.push(piece === 0 ? asFirst(message, before) : message);
  }
  return mapped;
};

/** The items that are read together: each alone, or those of an assistant that follow each other. */
export const itemRuns = (
  form: BlockForm,
  items: readonly WideJson[],
): { readonly from: number; readonly to: number }[] => {
  const runs: { from: number; to: number }[] = [];
  let isOpen = false;
  for (const [i, item] of items.entries()) {
    const last = runs.at(-1);
    const joins = form.joinsAssistants && isAssistants(form, item);
    if (joins && isOpen && last !== undefined) last.to = i + 1;
    else runs.push({ from: i, to: i + 1 });
    isOpen = joins;
  }
  return runs;
};

/** True for a message of the assistant that is a list of blocks. */
export const isAssistants = (form: BlockForm, item: WideJson): boolean =>
  isJsonObject(item) && item['role'] === form.assistant && isList(item[form.blocks]);

/** One message of several of the assistant. A text goes on where it was cut. */
/** The message of an assistant whose blocks came piece by piece. A text goes on where it was cut. */
export const assistantOfPieces = (
  form: BlockForm,
  pieces: readonly (readonly WideJson[])[],
): WideJsonObject => assistantMessage(joinedBlocks(pieces), form.openReader());

const joinedMessage = (form: BlockForm, items: readonly WideJson[], where: string): WideJsonObject => {
  const blocks = items.map((item) => (item as WideJsonObject)[form.blocks] as readonly WideJson[]);
  const merged = Object.assign({}, ...items) as WideJsonObject;
  const joined = { ...merged, role: form.assistant, [form.blocks]: joinedBlocks(blocks) };
  return piecesOf(form, joined, where)[0] as WideJsonObject;
};

/** The blocks of pieces of a message: of two texts that meet at a cut one is made, if they are the same but for the text. */
const joinedBlocks = (pieces: readonly (readonly WideJson[])[]): readonly WideJson[] => {
  const blocks: WideJson[] = [];
  for (const piece of pieces) {
    const [first, ...rest] = piece;
    if (first === undefined) continue;
    const joined = joinedText(blocks.at(-1), first);
    if (joined === null) blocks.push(first);
    else blocks[blocks.length - 1] = joined;
    blocks.push(...rest);
  }
  return blocks;
};

const joinedText = (a: WideJson | undefined, b: WideJson): WideJsonObject | null => {
  if (!isJsonObject(a) || !isJsonObject(b)) return null;
  const { text: first, ...before } = a;
  const { text: second, ...after } = b;
  if (typeof first !== 'string' || typeof second !== 'string') return null;
  const names = Object.keys(before);
  const isSame =
    names.length === Object.keys(after).length &&
    names.every((name) => before[name] === after[name] && typeof before[name] !== 'string');
  return isSame ? { ...a, text: first + second } : null;
};

const asFirst = (message: WideJsonObject, before: WideJson | undefined): WideJsonObject =>
  before === 'tool' &&
  (message['role'] === 'tool' || (message['role'] === 'user' && isList(message['content'])))
    ? { ...message, same_message: false }
    : message;

/** The messages that one message becomes. @param where what it is called in errors */
export type MessagePieces = (value: WideJson, where: string) => readonly WideJsonObject[];

/** As what is given; of a message that is the same object, the same ones. */
export const openKnownPieces = (read: MessagePieces): MessagePieces => {
  const known = new WeakMap<object, readonly WideJsonObject[]>();
  return (value, where) => {
    if (!isJsonObject(value)) return read(value, where);
    const pieces = known.get(value) ?? read(value, where);
    known.set(value, pieces);
    return pieces;
  };
};

/** The messages that one message becomes. @throws E_INPUT_SHAPE, E_ROLE_UNKNOWN */
export const piecesOf = (form: BlockForm, value: WideJson, where: string): WideJsonObject[] => {
  if (!isJsonObject(value)) throw fail('E_INPUT_SHAPE', `${where} is not an object with a role`);
  const { role: given, [form.blocks]: content, ...rest } = value;
  const role = roleOf(form, given);
  if (role === null)
    throw fail('E_ROLE_UNKNOWN', `${where} has a role that is none of ${rolesOf(form).join(', ')}`);
  const other = given !== role && given !== form.assistant ? defined({ role: given }) : {};
  const fields = fieldsUnder('message_fields', { ...rest, ...other });
  if (isList(content) && role === 'assistant')
    return [{ ...assistantMessage(content, form.openReader()), ...fields }];
  if (!isList(content) || role !== 'user') return [{ role, ...defined({ content }), ...fields }];
  const [first = { role, content }, ...others] = cutAtResults(content, form.openReader());
  return [{ ...first, ...fields }, ...others];
};

const roleOf = (form: BlockForm, given: WideJson | undefined): string | null => {
  if (given === undefined && form.mayLackRole) return 'user';
  if (given === form.assistant) return 'assistant';
  return typeof given === 'string' && Object.hasOwn(form.roles, given) ? (form.roles[given] as string) : null;
};

const rolesOf = ({ roles, assistant }: BlockForm): readonly string[] => {
  const [first = 'user', ...others] = Object.keys(roles);
  return [first, assistant, ...others];
};

/**
 * An assistant message of some blocks: each call of a tool is a tool call, all others are parts. A call that was not behind all
 * parts has `before`: so many parts were before it.
 */
export const assistantMessage = (blocks: readonly WideJson[], read: BlockReader): WideJsonObject => {
  const parts: WideJson[] = [];
  const calls: { readonly call: WideJsonObject; readonly before: number }[] = [];
  for (const block of blocks) {
    const found = read(block);
    if (found.kind === 'call') calls.push({ call: found.call, before: parts.length });
    else parts.push(found.kind === 'part' ? found.part : block);
  }
  if (calls.length === 0) return { role: 'assistant', content: parts };
  return {
    role: 'assistant',
    content: parts.length === 0 ? null : parts,
    tool_calls: calls.map(({ call, before }) => (before === parts.length ? call : { ...call, before })),
  };
};

const cutAtResults = (blocks: readonly WideJson[], read: BlockReader): WideJsonObject[] => {
  const pieces: WideJsonObject[] = [];
  let parts: WideJson[] = [];
  const flush = (): void => {
    if (parts.length > 0) pieces.push({ role: 'user', content: parts });
    parts = [];
  };
  for (const block of blocks) {
    const found = read(block);
    if (found.kind !== 'result') {
      parts.push(found.kind === 'part' ? found.part : block);
      continue;
    }
    flush();
    pieces.push(
      pieces.at(-1)?.['role'] === 'user' ? { ...found.message, same_message: true } : found.message,
    );
  }
  flush();
  return pieces;
};
