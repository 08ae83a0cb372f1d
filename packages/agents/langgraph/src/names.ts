import { sha256Hex } from '@stemma/canonical';
import { fail, nameOfText } from '@stemma/errors';

const PLAIN = /^[A-Za-z0-9_-]{1,80}$/;
/** What {@link historyName} makes of other ids: a plain one that looks like it is treated like those. */
const HASHED = /-h[0-9a-f]{16}$/;

/**
 * The name of the history of a thread. Names have no spaces and colons, ids of threads may: those get a hash.
 *
 * ```
 * historyName('langgraph-', 'support-4711', 1) === 'langgraph-support-4711'
 * historyName('langgraph-', 'support-4711', 2) === 'langgraph-support-4711.2'   // the first one was deleted
 * historyName('langgraph-', 'user:7', 1) === 'langgraph-user-7-h0c1f…'
 * ```
 */
export const historyName = (prefix: string, thread: string, generation: number): string => {
  const isPlain = PLAIN.test(thread) && !HASHED.test(thread);
  const name = isPlain ? thread : `${nameOfText(thread, 40) ?? 'thread'}-h${sha256Hex(thread).slice(0, 16)}`;
  return `${prefix}${name}${generation === 1 ? '' : `.${generation}`}`;
};

/** The most bytes of a name, less what follows the id. */
const MOST_ID_BYTES = 90;

/**
 * The name of the position of a checkpoint: its id, so that `stemma diff THREAD @name:ID @name:ID` finds it; a hash of its namespace
 * if it is in one; its number if it was put more than once. Ids that are no names are escaped.
 *
 * ```
 * checkpointName({ namespace: '', id: '1f0c-6f00' }, 1) === '1f0c-6f00'
 * checkpointName({ namespace: 'agent:7', id: '1f0c-6f00' }, 2) === '1f0c-6f00.n5f2a….2'
 * ```
 *
 * @throws E_KEY_TOO_LONG
 */
export const checkpointName = ({ namespace, id }: CheckpointKey, times: number): string => {
  const escaped = id.replace(/[^A-Za-z0-9-]/gu, (found) => `_${(found.codePointAt(0) ?? 0).toString(16)}_`);
  if (escaped.length > MOST_ID_BYTES)
    throw fail('E_KEY_TOO_LONG', `the id of a checkpoint has more than ${MOST_ID_BYTES} characters`);
  return [escaped, ...namespaceMark(namespace), ...(times === 1 ? [] : [String(times)])].join('.');
};

/** A checkpoint of a thread. */
export type CheckpointKey = { readonly namespace: string; readonly id: string };

const namespaceMark = (namespace: string): readonly string[] =>
  namespace === '' ? [] : [`n${sha256Hex(namespace).slice(0, 16)}`];

/** What a name says of its checkpoint; null: it names something else. */
export const readCheckpointName = (
  name: string,
  namespace: string,
): { readonly id: string; readonly times: number } | null => {
  const [escaped = '', ...rest] = name.split('.');
  const mark = namespaceMark(namespace);
  if (!mark.every((part, i) => rest[i] === part)) return null;
  const [times = '1', more] = rest.slice(mark.length);
  if (more !== undefined || !/^[1-9]\d{0,8}$/.test(times)) return null;
  const id = escaped.replace(/_([0-9a-f]{1,6})_/g, (_, code: string) =>
    String.fromCodePoint(parseInt(code, 16)),
  );
  return { id, times: Number(times) };
};
