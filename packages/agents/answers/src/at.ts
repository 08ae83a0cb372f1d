import type { Position, TreeView } from '@stemma/history-store';
import type { Home } from '@stemma/home';

type At = { readonly history: string; readonly at?: string | undefined };

/** The position that a question names; without one the working state. */
export const positionAt = async (home: Home, { history, at }: At): Promise<Position> =>
  home.position(await home.find(history), at);

export const viewAt = async (home: Home, at: At): Promise<TreeView> =>
  home.read.view(await positionAt(home, at));
