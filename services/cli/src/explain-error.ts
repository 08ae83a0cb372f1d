import { StemmaError, type ErrorDetail } from '@stemma/errors';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { distance } from 'fastest-levenshtein';
import { excerptsOf } from './excerpts.ts';
import { isPosition } from './references.ts';
import { withTitles } from './titles.ts';

/** So many names are looked at; who has more finds them with `stemma histories TEXT`. */
const MOST_NAMES = 10_000;
const MOST_SHOWN = 3;
const MOST_LISTED = 10;

/** The error as people name things: histories by their names, and behind it what may have been meant. */
export const explainError = async (
  home: Home,
  error: StemmaError,
  /** The branch that the command is about, if it found one. */
  branchRef: BranchRef | undefined,
): Promise<StemmaError> => {
  const [near, named] = await Promise.all([
    meant(home, error, branchRef).catch(() => ''),
    withTitles(home, error.message),
  ]);
  const message = near === '' ? named : `${named}; ${near}`;
  if (message === error.message) return error;
  const explained = new StemmaError(error.code, message, error.detail, { cause: error });
  if (error.stack !== undefined) explained.stack = error.stack;
  return explained;
};

const meant = async (
  home: Home,
  { code, detail }: StemmaError,
  branchRef: BranchRef | undefined,
): Promise<string> => {
  switch (code) {
    case 'E_HISTORY_NOT_FOUND':
      return didYouMean(await nearHistories(home, textIn(detail, 'name')));
    case 'E_BRANCH_NOT_FOUND':
      return nearBranches(home, detail);
    case 'E_SNAPSHOT_NOT_FOUND':
      return 'name' in detail ? didYouMean(await nearSaved(home, detail)) : newestOf(home, detail);
    case 'E_NODE_NOT_FOUND':
      return branchRef === undefined ? '' : nearNodes(home, branchRef, detail);
    default:
      return '';
  }
};

const didYouMean = (near: readonly string[]): string =>
  near.length === 0 ? '' : `did you mean ${near.join(' or ')}?`;

const textIn = (detail: ErrorDetail, name: string): string => {
  const value = detail[name];
  return typeof value === 'string' ? value : '';
};

/** Histories of a similar name, and branches of exactly this one. */
const nearHistories = async (home: Home, wanted: string): Promise<readonly string[]> => {
  const apart = await positionApart(home, wanted);
  if (apart !== undefined) return [apart];
  const { histories } = await home.read.listHistories({ limit: MOST_NAMES });
  const titled = histories.flatMap(({ name, branches }) => (name === null ? [] : [{ name, branches }]));
  const near = nearest(
    wanted,
    titled.map(({ name }) => name),
  );
  const branches = titled
    .filter((each) => each.branches.some(({ name }) => name === wanted))
    .map(({ name }) => `${name}:${wanted}`);
  return [...near, ...branches].slice(0, MOST_SHOWN);
};

/** The history or branch of `desk@c2`, and behind it the position, which is an argument of its own. */
const positionApart = async (home: Home, wanted: string): Promise<string | undefined> => {
  const at = wanted.indexOf('@');
  if (at <= 0 || !isPosition(wanted.slice(at))) return undefined;
  const found = await home.find(wanted.slice(0, at)).catch(() => undefined);
  return found && `${wanted.slice(0, at)} ${wanted.slice(at)}`;
};

const nearBranches = async (home: Home, detail: ErrorDetail): Promise<string> => {
  const { history, name, branches } = await home.read.history(textIn(detail, 'history'));
  const names = branches.flatMap((each) => (each.name === null ? [] : [each.name]));
  const wanted = textIn(detail, 'branch');
  const apart = await positionApart(home, `${name ?? history}:${wanted}`);
  if (apart !== undefined) return didYouMean([apart]);
  const near = nearest(wanted.slice(wanted.lastIndexOf(':') + 1), names);
  if (near.length > 0) return didYouMean(near.map((each) => `${name ?? history}:${each}`));
  return names.length > MOST_LISTED ? '' : `its branches are ${names.join(', ')}`;
};

const nearSaved = async (home: Home, detail: ErrorDetail): Promise<readonly string[]> => {
  const wanted = textIn(detail, 'name');
  const saved = await home.branches.saved(textIn(detail, 'history'));
  // `s2` behind `load` is the name s2, until nothing has it.
  const position = /^[cs][0-9]+$/.test(wanted) ? [`@${wanted}`] : [];
  return [
    ...position,
    ...nearest(
      wanted,
      saved.map(({ id }) => id),
    ),
  ];
};

const newestOf = async (home: Home, { history, branchId, asked }: ErrorDetail): Promise<string> => {
  if (typeof history !== 'string' || typeof branchId !== 'number' || asked === undefined) return '';
  const summary = await home.read.history(history);
  const branch = summary.branches.find((each) => each.branchId === branchId)?.branch ?? history;
  const [newest] = await home.read.snapshots({ history, branchId, branch }, { limit: 1 });
  return newest === undefined ? 'it has none' : `the newest is ${newest.label}`;
};

/** Nodes of a similar id, else those whose text holds what was typed, else the last one; each with how it begins. */
const nearNodes = async (home: Home, branchRef: BranchRef, detail: ErrorDetail): Promise<string> => {
  const view = await home.read.view(await home.position(branchRef));
  const wanted = textIn(detail, 'id');
  const nodes = excerptsOf(view);
  const words = new Map(nodes.map((node) => [node.id, node.words]));
  const text = wanted.toLowerCase();
  const near = nearest(wanted, [...words.keys()]);
  const telling =
    near.length > 0 || text.length < 3
      ? near
      : nodes.filter((node) => node.words.toLowerCase().includes(text)).map(({ id }) => id);
  const shown = (id: string): string => `#${id} (${words.get(id) ?? ''})`;
  if (telling.length > 0) return didYouMean(telling.slice(0, MOST_SHOWN).map(shown));
  const last = nodes.findLast(({ isBlock }) => isBlock);
  return last === undefined ? '' : `the last one here is ${shown(last.id)}`;
};

/** The names that a text may mean, the nearest first: a third of its letters wrong at most, or a part of them. */
export const nearest = (text: string, names: readonly string[]): readonly string[] => {
  const wanted = text.toLowerCase();
  if (wanted === '' || wanted.length > 200) return [];
  const most = Math.max(1, Math.floor(wanted.length / 3));
  return names
    .map((name) => {
      const known = name.toLowerCase();
      const isPart = wanted.length > 2 ? known.includes(wanted) : known.startsWith(wanted);
      return { name, far: isPart ? 0.5 : distance(wanted, known) };
    })
    .filter(({ far }) => far <= most)
    .sort((a, b) => a.far - b.far || (a.name < b.name ? -1 : 1))
    .slice(0, MOST_SHOWN)
    .map(({ name }) => name);
};
