import type { ProxyCounts, TunnelledHost } from '@stemma/gateway';
import type { Home } from '@stemma/home';
import { recordedSentences } from './recorded-sentences.ts';
import { titleOf } from './titles.ts';

/** What is said of a command that has run. */
type Recorded = {
  readonly counts: ProxyCounts;
  /** Entries that are not recorded yet. */
  readonly waiting: number;
  /** Hosts whose connections passed unread; undefined: nothing was intercepted. */
  readonly tunnelled: readonly TunnelledHost[] | undefined;
  /** The name that was given to the one history. */
  readonly history: string | undefined;
};

/** Says where the calls of a command are recorded, and which are not. */
export const sayRecorded = async (
  { counts, waiting, tunnelled, history }: Recorded,
  open: () => Promise<Home>,
  say: (sentence: string) => void,
): Promise<void> => {
  const names = await namesOf(counts.histories, history, open);
  for (const sentence of recordedSentences(counts, waiting, names, tunnelled !== undefined)) say(sentence);
  if (tunnelled !== undefined && tunnelled.length > 0) say(`passed unread: ${unreadHosts(tunnelled)}`);
  if (counts.branches.length > 1)
    for (const line of linesOf(
      counts.branches,
      new Map(counts.histories.map((id, i) => [id, names[i] ?? id])),
    ))
      say(line);
};

/** What people call the histories. @param given the name that was given to the one history */
const namesOf = async (
  histories: readonly string[],
  given: string | undefined,
  open: () => Promise<Home>,
): Promise<readonly string[]> => {
  if (given !== undefined && histories.length === 1) return [given];
  if (histories.length === 0) return [];
  try {
    const home = await open();
    return await Promise.all(histories.map((history) => titleOf(home, history)));
  } catch {
    return histories; // the calls are recorded: their ids name them, too
  }
};

/** The branches that are named, of many. */
const MOST_BRANCHES = 20;

/** Each branch that calls were recorded on, and how to list them. @param names by the histories' ids */
const linesOf = (
  branches: readonly { readonly history: string; readonly branchId: number; readonly calls: number }[],
  names: ReadonlyMap<string, string>,
): readonly string[] => {
  const lines = branches.slice(0, MOST_BRANCHES).map(({ history, branchId, calls }) => {
    const name = names.get(history) ?? history;
    const place = branchId === 0 ? name : `${history}:${branchId}`;
    return `  ${calls} ${calls === 1 ? 'call' : 'calls'} in ${name}${branchId === 0 ? '' : `, branch ${branchId}`}: stemma calls ${place}`;
  });
  const left = branches.length - lines.length;
  return left === 0 ? lines : [...lines, `  and on ${left} more branches: stemma histories lists them`];
};

/** The hosts that are named in a sentence. */
const MOST_NAMED = 8;

/** `github.com ×3, pypi.org ×1` */
const unreadHosts = (tunnelled: readonly TunnelledHost[]): string => {
  const named = tunnelled.slice(0, MOST_NAMED).map(({ host, connections }) => `${host} ×${connections}`);
  const rest = tunnelled.length - named.length;
  return [...named, ...(rest > 0 ? [`${rest} more hosts`] : [])].join(', ');
};
