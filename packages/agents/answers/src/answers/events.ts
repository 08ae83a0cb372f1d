import type { ContractAnswer } from '../answer.ts';
import { loggedAnswer } from '../logged-events.ts';

export const events: ContractAnswer<'events'> = async (
  { home },
  { history: name, from = 0, limit = 100, node },
) => {
  const { history } = await home.find(name);
  const about = node === undefined ? {} : { node };
  const page = { from, limit: Math.max(1, Math.min(limit, 1_000)), ...about };
  const events = await home.read.events(history, page);
  const last = events.at(-1);
  const next = last === undefined ? 0 : last.seq + 1;
  const more =
    last !== undefined &&
    (node === undefined
      ? next < (await home.read.history(history)).frames
      : (await home.read.events(history, { ...page, from: next, limit: 1 })).length > 0);
  return { history, events: events.map(loggedAnswer), next: more ? last.seq + 1 : null };
};
