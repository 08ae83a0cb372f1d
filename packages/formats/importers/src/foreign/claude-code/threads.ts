import type { WideJsonObject } from '@stemma/canonical';
import { textOf } from '../fields.ts';
import type { ForeignItem } from '../item.ts';

type Warning = Extract<ForeignItem, { kind: 'warning' }>;

/**
 * Which line follows which. Each message names the one before it; lines between them that are no messages are passed. Where two prompts
 * follow the same message, a person went back and began once more: a branch. Results of tools that ran side by side, and whatever else
 * follows the same line, stand behind each other.
 */
export type Threads = {
  /**
   * Where a message goes on; `after` undefined: behind the last one of the file.
   */
  readonly follow: (
    line: WideJsonObject,
    where: string,
    about: { readonly isPrompt: boolean },
  ) => { readonly after: string | null | undefined; readonly warnings: readonly Warning[] };
  /** A further line of an answer whose first line has this uuid. */
  readonly joins: (line: WideJsonObject, first: string | undefined) => void;
  /** A line that is no message. */
  readonly passes: (line: WideJsonObject) => void;
  /** The uuids of the messages from one to another. */
  readonly between: (head: string, tail: string) => readonly string[];
};

/** Where a line stands: the message that it is or follows, and its branch. */
type Stand = { readonly message: string | null; readonly branch: number };

const BEGINNING: Stand = { message: null, branch: 0 };

export const openThreads = (): Threads => {
  const stands = new Map<string, Stand>();
  /** In the order of the file. */
  const messages = new Set<string>();
  /** Messages that a prompt follows. */
  const prompted = new Set<string | null>();
  /** The last message of each branch. */
  const tips: (string | null)[] = [null];
  let current = 0;

  const standOf = (line: WideJsonObject): Stand | null => {
    const parent = textOf(line['parentUuid']);
    if (parent === undefined) {
      const logical = textOf(line['logicalParentUuid']);
      return (logical === undefined ? undefined : stands.get(logical)) ?? BEGINNING;
    }
    return stands.get(parent) ?? null;
  };
  const set = (line: WideJsonObject, stand: Stand): void => {
    const uuid = textOf(line['uuid']);
    if (uuid !== undefined) stands.set(uuid, stand);
  };
  return {
    follow(line, where, { isPrompt }) {
      const uuid = textOf(line['uuid']) ?? null;
      const found = standOf(line);
      const warnings: Warning[] =
        found === null ? [{ kind: 'warning', code: 'W_PARENT_MISSING', where }] : [];
      const parent = found ?? { message: tips[current] ?? null, branch: current };
      const isNew = isPrompt && prompted.has(parent.message);
      if (isPrompt) prompted.add(parent.message);
      // What goes on from the beginning, and is no second prompt, goes on where the file is.
      const branch = isNew ? tips.length : parent.message === null ? current : parent.branch;
      const after = isNew ? parent.message : branch === current ? undefined : (tips[branch] ?? null);
      current = branch;
      tips[branch] = uuid;
      if (uuid !== null) messages.add(uuid);
      set(line, { message: uuid, branch });
      return { after, warnings };
    },
    joins(line, first) {
      set(line, { message: first ?? null, branch: current });
    },
    passes(line) {
      set(line, standOf(line) ?? { message: tips[current] ?? null, branch: current });
    },
    between(head, tail) {
      const found: string[] = [];
      let isIn = false;
      for (const uuid of messages) {
        isIn ||= uuid === head;
        if (isIn) found.push(uuid);
        if (uuid === tail) break;
      }
      return found;
    },
  };
};
