import { canonicalJson } from '@stemma/canonical';
import type { FlatTree } from './flat-tree.ts';
import type { Headers, PayloadSource } from './node.ts';
import type { ThreadMode } from './policy.ts';
import { contentAt, roleOf, threadIndexes } from './thread.ts';

/**
 * The role of a part of the provider thread: the brackets of the list (`array`), a comma between two messages
 * (`separator`), and in a message its keys, quotes of keys and braces (`syntax`) and the values of its four fields.
 */
export type ThreadPartName = 'array' | 'separator' | 'syntax' | 'content' | 'id' | 'kind' | 'role';

/** A range of the thread's bytes, [from, to), and its block: an index of the tree, null for the list itself. */
export type ThreadPart = {
  readonly part: ThreadPartName;
  readonly index: number | null;
  readonly from: number;
  readonly to: number;
};

/** The provider thread with its parts. The thread is ASCII, so characters of the text are bytes. */
export type ThreadParts = { readonly text: string; readonly parts: readonly ThreadPart[] };

/**
 * The text of the provider thread and its parts (context-tree §4). The parts cover all bytes: the first begins at 0,
 * each begins where the one before it ends, the last ends at the length; none is empty.
 *
 * @throws Missing (payloads)
 */
export const threadParts = (
  tree: FlatTree,
  source: PayloadSource,
  mode: ThreadMode = 'full',
): ThreadParts => {
  const texts: string[] = [];
  const parts: ThreadPart[] = [];
  let at = 0;
  const add = (part: ThreadPartName, index: number | null, text: string): void => {
    texts.push(text);
    parts.push({ part, index, from: at, to: at + text.length });
    at += text.length;
  };
  add('array', null, '[');
  for (const [i, index] of threadIndexes(tree, mode).entries()) {
    if (i > 0) add('separator', null, ',');
    const headers = tree.headers[index] as Headers;
    const content = contentAt(tree, index, source);
    add('syntax', index, '{"content":');
    add('content', index, content === undefined ? '""' : canonicalJson(content));
    add('syntax', index, ',"id":');
    add('id', index, canonicalJson(headers.id));
    add('syntax', index, ',"kind":');
    add('kind', index, canonicalJson(headers.kind === undefined ? '' : headers.kind));
    add('syntax', index, ',"role":');
    add('role', index, canonicalJson(roleOf(headers, index < tree.seq)));
    add('syntax', index, '}');
  }
  add('array', null, ']');
  return { text: texts.join(''), parts };
};
