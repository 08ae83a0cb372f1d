import { valueText } from '@stemma/api';
import type { RequestChange } from '@stemma/model-apis';
import { oneLine } from './output.ts';

const SIGNS = { added: '+', removed: '-', changed: '~', moved: '↕' } as const;

/** One line for each tool or parameter that differs: `~ tool weather: description: Says the weather → Says it now`. */
export const requestChangeLines = (changes: readonly RequestChange[]): readonly string[] =>
  changes.flatMap(({ what, name, change, fields }) => {
    const head = `${SIGNS[change]} ${what} ${oneLine(name, 60)}`;
    if (fields.length === 0) return [change === 'moved' ? `${head}: at another place` : head];
    return fields.map(
      ({ path, before, after }) =>
        `${head}: ${path === '' ? '' : `${oneLine(path, 80)}: `}${quoted(valueText(before))} → ${quoted(valueText(after))}`,
    );
  });

/** The same in a few words: `tools: beta changed, gamma removed`. */
export const requestChangesInShort = (changes: readonly RequestChange[]): string =>
  `tools: ${changes.map(({ name, change }) => `${oneLine(name, 30)} ${change}`).join(', ')}`;

const quoted = (text: string | null): string => (text === null ? 'nothing' : oneLine(text, 100));
