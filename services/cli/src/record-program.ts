import { reasonOf } from '@stemma/errors';
import type { GitCommit } from '@stemma/events';
import { recordOfRun } from '@stemma/history';
import type { Home } from '@stemma/home';
import type { EndedChild } from './child-command.ts';

/** A program that was run, and how it ended. */
export type RanProgram = EndedChild & {
  readonly run: string;
  readonly command: readonly string[];
  readonly directory: string;
  readonly commit: GitCommit | null;
  readonly variables: readonly string[];
};

/** The histories and branches that its calls were recorded in, in the order in which they were met. */
type RecordedIn = {
  readonly histories: readonly string[];
  readonly branches: readonly { readonly history: string; readonly branchId: number }[];
};

/** A branch of a history. */
export type FirstBranch = { readonly history: string; readonly branchId: number };

/**
 * Records which program was run: in the history of its first call, on the branch where that one ended first. Without calls nothing
 * is recorded. That it cannot be recorded is said, and is no failure of the program.
 */
export const recordProgram = async (
  open: () => Promise<Home>,
  recordedIn: RecordedIn,
  say: (sentence: string) => void,
  program: RanProgram,
): Promise<void> => {
  const branch = firstBranchOf(recordedIn);
  if (branch === undefined) return;
  const { command, directory, variables, ...facts } = program;
  try {
    const home = await open();
    await home.submit({
      id: recordOfRun(program.run),
      ...branch,
      by: { recorder: 'record' },
      steps: [
        {
          op: 'record_run',
          ...facts,
          command: command.map(wellFormed),
          directory: wellFormed(directory),
          variables: variables.map(wellFormed),
        },
      ],
    });
  } catch (error) {
    say(`what was run is not recorded: ${reasonOf(error)}`);
  }
};

/** A word that is no text has U+FFFD where it is none. */
const wellFormed = (text: string): string => text.toWellFormed();

/** The history and the branch of the first call; undefined: no call was recorded. */
export const firstBranchOf = ({ histories, branches }: RecordedIn): FirstBranch | undefined => {
  const [history] = histories;
  if (history === undefined) return undefined;
  return { history, branchId: branches.find((each) => each.history === history)?.branchId ?? 0 };
};
