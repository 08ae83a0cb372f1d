import { branchRefOf } from '@stemma/history-store';
import { openHome } from '@stemma/home';
import type { Context } from '../command.ts';

/** What a bundle is of. `isBranch`: only the calls on the way to the tip of a branch. */
export type Bundled = { readonly run: string | null; readonly isBranch: boolean };

/** True for the name of a file with a bundle; no history is looked up under it. */
export const isBundle = (name: string): boolean => name.endsWith('.stemma');

/**
 * Runs a command in the home of a bundle: a temporary one, which is gone afterwards with all that was written to it.
 *
 * @throws E_BUNDLE_NOT_FOUND, E_BUNDLE_DAMAGED
 */
export const inBundle = async <Answer>(
  context: Context,
  path: string,
  run: (inside: Context, bundled: Bundled) => Promise<Answer>,
): Promise<Answer> => {
  const { openBundle } = await import('@stemma/operations');
  const bundle = await openBundle(path);
  try {
    const { directory, history, branchId, run: ofRun } = bundle;
    const home = await openHome({ directory, say: context.output.say });
    try {
      const inside: Context = {
        ...context,
        directory,
        // Its log and rows are in the folder, wherever those of other homes are.
        env: { ...context.env, STEMMA_LOG: undefined, STEMMA_ROWS: undefined },
        home: () => Promise.resolve(home),
        findBranch: () => Promise.resolve({ home, branchRef: branchRefOf(history, branchId ?? 0) }),
      };
      return await run(inside, { run: ofRun, isBranch: branchId !== null });
    } finally {
      await home.close();
    }
  } finally {
    bundle.close();
  }
};
