import { isStemmaError } from '@stemma/errors';
import { isExactObject, member, type ExactJson, type ExactObject } from './exact-json.ts';
import type { StreamNode } from './node.ts';
import type { Profile } from './profile.ts';
import { isTruthy, pythonStr, strip } from './python-text.ts';
import { readExactJson } from './read-exact-json.ts';

const HEADER_TYPE = 'ctree_eventlog_header';

/** The content of an event log's line: nothing (blank, or a header), a node, or something else, which is reported. */
export type LogLine =
  | { readonly is: 'blank' }
  | { readonly is: 'header' }
  | { readonly is: 'node'; readonly node: StreamNode; readonly event: ExactObject }
  | { readonly is: 'skipped'; readonly reason: string };

/**
 * The content of an event log's line, without its end (compiler-stages, Reading). `number` is its 1-based number, for
 * reasons. In our own profile, a kind or an id that is not a text is a reason to skip; the caller must find repeated
 * ids. Of a key that stands twice in an object the engine reads the last value; `onRepeatedKey` is told.
 */
export const readLogLine = (
  profile: Profile,
  line: string,
  number: number,
  onRepeatedKey?: (key: string) => void,
): LogLine => {
  const text = strip(line);
  if (text === '') return { is: 'blank' };
  let value: ExactJson;
  try {
    value = readExactJson(text, `line ${number}`, onRepeatedKey);
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    return skipped(
      text.startsWith('\ufeff') ? `line ${number} begins with a byte order mark` : error.message,
    );
  }
  if (!isExactObject(value)) return skipped(`line ${number} is no JSON object`);
  if (member(value, '_type') === HEADER_TYPE) return { is: 'header' };
  return readEvent(profile, value, number);
};

const readEvent = (profile: Profile, event: ExactObject, number: number): LogLine => {
  const kind = member(event, 'kind');
  if (!isTruthy(kind)) return skipped(`line ${number} has no kind`);
  if (!profile.compat && typeof kind !== 'string')
    return skipped(`line ${number} has a kind that is no text`);
  const id = member(event, 'node_id');
  if (!profile.compat && id !== null && typeof id !== 'string')
    return skipped(`line ${number} has a node_id that is no text`);
  return {
    is: 'node',
    event,
    node: {
      kind: pythonStr(kind),
      turn: member(event, 'turn'),
      payload: member(event, 'payload'),
      id: isTruthy(id) ? pythonStr(id) : null,
    },
  };
};

const skipped = (reason: string): LogLine => ({ is: 'skipped', reason });
