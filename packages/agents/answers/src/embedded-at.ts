import type { Home } from '@stemma/home';
import { positionAt } from './at.ts';

/** The messages of a pool at a position with their vectors. */
export const embeddedAt = async (home: Home, where: Parameters<typeof positionAt>[1]) => {
  const position = await positionAt(home, where);
  return { position: position.label, of: position.history, ...(await home.queries.pools.embedded(position)) };
};
