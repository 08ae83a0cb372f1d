import type { Home } from '@stemma/home';

/** What people call a history: its name, or its id if it has none. */
export const titleOf = async (home: Home, history: string): Promise<string> =>
  (await home.history(history)).name ?? history;

/** The address of a branch (`HISTORY` or `HISTORY:BRANCH_ID`) with the title in place of the history's id. */
export const titled = (address: string, history: string, title: string): string =>
  address === history || address.startsWith(`${history}:`) ? title + address.slice(history.length) : address;
