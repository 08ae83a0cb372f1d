import { isJsonObject, type WideJson } from '@stemma/canonical';
import { isList, listOf } from './fields.ts';

/** A file of a program that is known, and that cannot be imported. */
export type UnsupportedFile = {
  /** What it is. */
  readonly what: string;
  readonly recognises: (first: WideJson) => boolean;
  /** What to do instead. */
  readonly instead: string;
};

const has = (value: WideJson, ...names: readonly string[]): boolean =>
  isJsonObject(value) && names.every((name) => value[name] !== undefined);

const someOf = (value: WideJson, recognises: (item: WideJson) => boolean): boolean =>
  isList(value) ? listOf(value).slice(0, 20).some(recognises) : recognises(value);

/** Files that are refused by name: their layout is described nowhere, or they hold only what was on a screen. */
export const UNSUPPORTED: readonly UnsupportedFile[] = [
  {
    what: 'a chat of Cursor, whose layout is not described',
    recognises: (first) =>
      someOf(
        first,
        (item) =>
          has(item, 'composerId', 'conversation') ||
          has(item, 'composerId', 'fullConversationHeadersOnly') ||
          has(item, 'bubbleId', 'type') ||
          has(item, 'allComposers'),
      ),
    instead: 'record the agent with `stemma record --intercept`, or import a trace of its calls',
  },
  {
    what: 'what Cline or Roo Code showed on its page',
    recognises: (first) =>
      isList(first) &&
      first.length > 0 &&
      first.every((item) => has(item, 'ts', 'type') && (has(item, 'say') || has(item, 'ask'))),
    instead: 'import api_conversation_history.json, which stands in the same folder',
  },
  {
    what: 'a run of OrcaReplay, whose long bodies stand in other files',
    recognises: (first) =>
      has(first, 'seq', 'mono_us', 'type', 'actor') || has(first, 'orca_version', 'run_id'),
    instead: 'record the agent with `stemma record`, or export the run as HAR',
  },
];
