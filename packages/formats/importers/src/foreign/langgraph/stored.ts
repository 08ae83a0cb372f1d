import { compareCodePoints, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import { listOf, nonEmpty, objectOf, textOf, type Field } from '../fields.ts';
import { readTypedValue } from './typed-value.ts';

/**
 * A row of the table `checkpoints` as a line, with what other tables hold of it. Bytes are in base64; `values` are channels that are
 * stored apart, `writes` what tasks gave since, in the order in which it is applied.
 *
 * ```
 * {"thread_id":"t","checkpoint_ns":"","checkpoint_id":"1f0…","parent_checkpoint_id":null,"checkpoint":{"type":"msgpack","base64":"g6F2…"},
 *  "metadata":{"type":"json","base64":"…"},"values":[],"writes":[{"channel":"messages","type":"msgpack","base64":"…"}]}
 * ```
 */
export type StoredRow = {
  readonly thread_id: string;
  readonly checkpoint_ns: string;
  readonly checkpoint_id: string;
  readonly parent_checkpoint_id: string | null;
  readonly checkpoint: StoredValue;
  readonly metadata: StoredValue;
  readonly values: readonly StoredChannel[];
  readonly writes: readonly StoredChannel[];
};
export type StoredValue = { readonly type: string; readonly base64: string };
export type StoredChannel = StoredValue & { readonly channel: string };

/** The most bytes of one value: longer ones are no state of a conversation. */
export const MOST_VALUE = 64 * 1024 * 1024;

/** @throws E_INPUT_TOO_LARGE for a value of a checkpoint that has more bytes than {@link MOST_VALUE} */
export const refuseLongValue = (size: number, id: string): void => {
  if (size > MOST_VALUE)
    throw fail('E_INPUT_TOO_LARGE', `a value of checkpoint ${id} has ${size} bytes`, { limit: MOST_VALUE });
};

/** The first line: it shows what the others are. */
export const LANGGRAPH_HEAD = { langgraph: 'checkpoints' } as const;

export const isLangGraphHead = (value: WideJson): boolean =>
  isJsonObject(value) && value['langgraph'] === LANGGRAPH_HEAD.langgraph;

/** A checkpoint that is read; what of it cannot be read is absent, and named in `unread`. */
export type StoredState = {
  readonly thread: string;
  readonly ns: string;
  readonly id: string;
  readonly parent: string | null;
  readonly at: Field;
  readonly version: string | undefined;
  readonly source: string | undefined;
  /** Null: the checkpoint cannot be read. */
  readonly channels: ReadonlyMap<string, WideJson> | null;
  readonly versions: WideJsonObject;
  /** Channels of which only deltas are stored. */
  readonly deltas: ReadonlySet<string>;
  /** What its tasks wrote; the values only where a channel is put together from them. */
  readonly writes: readonly { readonly channel: string; readonly value: WideJson | undefined }[];
  readonly unread: readonly string[];
};

/** The checkpoint of a row; null: the value is none. */
export const readStored = (row: WideJson): StoredState | null => {
  const fields = objectOf(row);
  const [thread, id] = [textOf(fields['thread_id']), nonEmpty(fields['checkpoint_id'])];
  if (thread === undefined || id === undefined) return null;
  const unread: string[] = [];
  const read = (stored: Field, what: string): WideJson | undefined => {
    const { type, base64 } = objectOf(stored);
    const form = textOf(type) ?? '';
    try {
      const value = readTypedValue(form, Buffer.from(textOf(base64) ?? '', 'base64'));
      if (value === undefined) unread.push(`${what} of the form ${form.slice(0, 40)}`);
      return value;
    } catch (error) {
      if (!isStemmaError(error)) throw error;
      unread.push(what);
      return undefined;
    }
  };
  const checkpoint = read(fields['checkpoint'], 'checkpoint');
  const state = objectOf(checkpoint);
  const metadata = objectOf(read(fields['metadata'], 'metadata'));
  const channels = new Map<string, WideJson>();
  const take = (channel: string, value: WideJson | undefined): void => {
    if (value !== undefined && !isUndefined(value)) channels.set(channel, value);
  };
  for (const [channel, value] of Object.entries(objectOf(state['channel_values']))) take(channel, value);
  for (const stored of listOf(fields['values'])) {
    const channel = textOf(objectOf(stored)['channel']) ?? '';
    take(channel, read(stored, `channel ${channel.slice(0, 60)}`));
  }
  const snapshots = [...channels].flatMap(([channel, value]) => (isSnapshot(value) ? [channel] : []));
  for (const channel of snapshots) channels.set(channel, objectOf(channels.get(channel))['value'] ?? null);
  const deltas = new Set([...snapshots, ...Object.keys(objectOf(metadata['counters_since_delta_snapshot']))]);
  const v = state['v'];
  return {
    thread,
    ns: textOf(fields['checkpoint_ns']) ?? '',
    id,
    parent: nonEmpty(fields['parent_checkpoint_id']) ?? null,
    at: state['ts'],
    version: typeof v === 'number' ? `v${v}` : undefined,
    source: textOf(metadata['source']),
    channels: isJsonObject(checkpoint) ? channels : null,
    versions: objectOf(state['channel_versions']),
    deltas,
    writes: listOf(fields['writes']).map((write) => {
      const channel = textOf(objectOf(write)['channel']) ?? '';
      const value = deltas.has(channel) ? read(write, `write to ${channel.slice(0, 60)}`) : undefined;
      return { channel, value };
    }),
    unread,
  };
};

const isSnapshot = (value: WideJson): boolean => {
  const { lc, type } = objectOf(value);
  return lc === 2 && type === 'delta_snapshot';
};

const isUndefined = (value: WideJson): boolean => {
  const { lc, type } = objectOf(value);
  return lc === 2 && type === 'undefined';
};

/** What a row says of its location among others. */
export type RowLink = { readonly id: string; readonly parent: string | null };

/**
 * The rows of a thread, each behind its parent, else in the order in which they are given: ids of several processes need not follow each
 * other. Rows that are each other's parents come last.
 */
export const parentsFirst = <Row extends RowLink>(rows: readonly Row[]): readonly Row[] => {
  const known = new Set(rows.map(({ id }) => id));
  const waiting = new Map<string, Row[]>();
  const done = new Set<string>();
  const ordered: Row[] = [];
  for (const row of rows) {
    const { parent } = row;
    if (parent !== null && known.has(parent) && !done.has(parent)) {
      const others = waiting.get(parent);
      if (others === undefined) waiting.set(parent, [row]);
      else others.push(row);
      continue;
    }
    const open = [row];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      done.add(next.id);
      ordered.push(next);
      open.push(...(waiting.get(next.id) ?? []).reverse());
      waiting.delete(next.id);
    }
  }
  return [...ordered, ...rows.filter(({ id }) => !done.has(id))];
};

/** A thread in one of its namespaces: that of a graph within a graph has the names of the nodes that run it, `a:1|b:2`. */
export type ThreadName = { readonly thread: string; readonly ns: string };

/** The order in which threads are read: in each the innermost graphs first, as a model that is called there answers there first. */
export const compareThreads = (a: ThreadName, b: ThreadName): number =>
  compareCodePoints(a.thread, b.thread) || depthOf(b.ns) - depthOf(a.ns) || compareCodePoints(a.ns, b.ns);

const depthOf = (ns: string): number => (ns === '' ? 0 : ns.split('|').length);

/** A line of what is read, in UTF-8. */
export const storedLine = (line: StoredRow | typeof LANGGRAPH_HEAD): Uint8Array =>
  Buffer.from(`${JSON.stringify(line)}\n`);
