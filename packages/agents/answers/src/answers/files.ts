import type { AnswerOf, QUESTIONS } from '@stemma/api';
import { fail } from '@stemma/errors';
import type { Home } from '@stemma/home';
import { lineDifferences } from '@stemma/model-apis';
import type { FileDifference, KeptFile } from '@stemma/queries';
import type { ContractAnswer } from '../answer.ts';
import { foundChanges } from '../found-change.ts';

const MOST = 1_000;

type Listed = AnswerOf<typeof QUESTIONS.files>['files'][number];

export const files: ContractAnswer<'files'> = async ({ home }, { history: name, a, b, limit = 100 }) => {
  const branch = await home.find(name);
  const [first, second] = [await callAt(home, name, a), await callAt(home, name, b)];
  const found = withRenames(await home.calls.filesBetween(first, second));
  const describe = foundChanges(home);
  const listed: Listed[] = [];
  for (const { path, from, before, after, changes } of found.slice(0, Math.max(1, Math.min(limit, MOST)))) {
    const described = [];
    for (const change of changes) described.push(await describe(change));
    listed.push({
      ...{ path, from },
      change: from !== null ? 'renamed' : before === null ? 'added' : after === null ? 'removed' : 'changed',
      before: before?.state ?? null,
      after: after?.state ?? null,
      ...linesOf(before, after),
      changes: described,
    });
  }
  return {
    history: branch.history,
    a: { label: first.label, run: first.run },
    b: { label: second.label, run: second.run },
    total: found.length,
    files: listed,
  };
};

/** The newest call with what a position shows that a run made. @throws E_FILES_NOT_RECORDED if there is none */
const callAt = async (
  home: Pick<Home, 'calls' | 'find' | 'position'>,
  name: string,
  ref: string,
): Promise<{ readonly label: string; readonly run: string; readonly at: number }> => {
  const position = await home.position(await home.find(name), ref);
  const attempt = (await home.calls.at(position)).findLast(({ run }) => run !== null);
  if (attempt?.run == null)
    throw fail(
      'E_FILES_NOT_RECORDED',
      `no call of a recorded run was made with what ${position.label} shows`,
    );
  return { label: position.label, run: attempt.run, at: attempt.at };
};

type Renamed = FileDifference & { readonly from: string | null };

/** A file that came with the bytes of one that went is that file, if no other is alike. */
const withRenames = (found: readonly FileDifference[]): readonly Renamed[] => {
  const gone = Map.groupBy(
    found.filter(({ after }) => after === null),
    ({ before }) => before?.state.sha256 ?? null,
  );
  const came = Map.groupBy(
    found.filter(({ before }) => before === null),
    ({ after }) => after?.state.sha256 ?? null,
  );
  const taken = new Set<FileDifference>();
  const renamed = new Map<FileDifference, FileDifference>();
  for (const [sha256, [one, ...others]] of came) {
    const [old, ...more] = gone.get(sha256) ?? [];
    if (sha256 === null || one === undefined || old === undefined || others.length + more.length > 0)
      continue;
    renamed.set(one, old);
    taken.add(old);
  }
  return found
    .filter((each) => !taken.has(each))
    .map((each) => {
      const old = renamed.get(each);
      return old === undefined ? { ...each, from: null } : { ...each, before: old.before, from: old.path };
    });
};

const linesOf = (before: KeptFile | null, after: KeptFile | null): Pick<Listed, 'lines' | 'notShown'> => {
  const [a, b] = [textOf(before), textOf(after)];
  if ('notShown' in a) return { lines: null, notShown: a.notShown };
  if ('notShown' in b) return { lines: null, notShown: b.notShown };
  const hunks = lineDifferences(a.text, b.text);
  if (hunks === undefined) return { lines: null, notShown: 'many' };
  return { lines: hunks.map((hunk) => ({ ...hunk, lines: [...hunk.lines] })), notShown: null };
};

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of a file; of none, an empty one. */
const textOf = (
  file: KeptFile | null,
): { readonly text: string } | { readonly notShown: Exclude<Listed['notShown'], null> } => {
  if (file === null) return { text: '' };
  const { bytes, contents, state } = file;
  if (bytes === null) return { notShown: contents === 'kept' ? 'unread' : contents };
  if (state.mode === '120000') return { notShown: 'link' };
  try {
    const text = decoder.decode(bytes);
    return text.includes('\0') ? { notShown: 'binary' } : { text };
  } catch {
    return { notShown: 'binary' };
  }
};
