import type { ContractAnswer } from '../answer.ts';

export const snapshots: ContractAnswer<'snapshots'> = async ({ snapshotPages, home }, { history, ...page }) =>
  snapshotPages(await home.find(history), page);
