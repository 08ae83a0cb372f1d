import { fromWireJson, type ApiClient } from '@stemma/api';
import { StemmaError } from '@stemma/errors';

/** What somebody filled in, by the names of the fields. */
export type Fields = Readonly<Record<string, string>>;

/** Where it is done: on a branch as it is now, or at a position of it. */
export type Target = {
  readonly history: string;
  /** The position that is looked at; undefined: the draft. */
  readonly at: string | undefined;
  readonly node: string | null;
  /** True if the branch goes on from `at`: then changes need no fork. */
  readonly isTip: boolean;
};

/** What became of it. `undo`: the position before it on its branch, which a rollback returns to. */
export type Done = {
  readonly words: string;
  readonly branch: string | null;
  readonly at: string | null;
  readonly undo: { readonly branch: string; readonly to: string } | null;
};

type Who = { readonly actor: string; readonly notes?: string };

/** What a dialog asks for, in the name of an actor. */
export type InterventionRequest = {
  readonly client: ApiClient;
  readonly fields: Fields;
  readonly target: Target;
  readonly who: Who;
};

/** What became of an intervention after which the page shows what it showed. */
export const stays = (words: string): Done => ({ words, branch: null, at: null, undo: null });

/** What became of an intervention after which the page shows a branch. */
export const goesTo = (branch: string | null, words: string): Done => ({
  words,
  branch,
  at: null,
  undo: null,
});

export const usage = (message: string): StemmaError => new StemmaError('E_USAGE', message);

/** @throws E_USAGE */
export const jsonOf = (text: string): unknown => {
  try {
    return fromWireJson(text);
  } catch {
    throw usage('the content is not JSON yet');
  }
};

/** Those of the fields that are filled in. */
export const given = (fields: Fields, ...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = fields[name] ?? '';
      return value === '' ? [] : [[name, value]];
    }),
  );

export const rootOf = (history: string): string => history.split(':')[0] ?? history;
