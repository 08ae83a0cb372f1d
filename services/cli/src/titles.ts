import type { Home } from '@stemma/home';

/** What people call a history: its name, or its id if it has none. */
export const titleOf = async (home: Home, history: string): Promise<string> =>
  (await home.read.history(history)).name ?? history;

/** The address of a branch (`HISTORY` or `HISTORY:BRANCH_ID`) with the title in place of the history's id. */
export const titled = (address: string, history: string, title: string): string =>
  address === history || address.startsWith(`${history}:`) ? title + address.slice(history.length) : address;

/** Ids of histories, but not where a file is named by one. */
const IDS = /(?<![/\\])\bh[a-z2-7]{20}\b/g;

/** A sentence with the names of histories in place of their ids, where the home knows them. */
export const withTitles = async (home: Home, sentence: string): Promise<string> => {
  const ids = [...new Set(sentence.match(IDS))];
  const titles = new Map<string, string>();
  for (const id of ids) titles.set(id, await titleOf(home, id).catch(() => id));
  return sentence.replace(IDS, (id) => titles.get(id) ?? id);
};
