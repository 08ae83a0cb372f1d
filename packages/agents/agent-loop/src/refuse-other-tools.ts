import { fail } from '@stemma/errors';
import type { BranchRef, Position } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { eventsFrom } from './events-from.ts';
import { mayHaveAnswered, type ToolSource } from './tool-sources.ts';

/**
 * Refuses sources of results that leave out one which answered in the run before. More of them are welcome: a run that stopped,
 * since nobody knew a result, goes on when somebody does.
 *
 * @throws E_RUN_REUSED
 */
export const refuseOtherTools = async (
  home: Pick<Home, 'read'>,
  { history, branchId }: BranchRef,
  since: Position,
  run: string,
  sources: readonly ToolSource[],
): Promise<void> => {
  for await (const { event, command, branchId: at } of eventsFrom(home, history, since.seq)) {
    if (at !== branchId || event.type !== 'NodeInserted' || !command.startsWith(`${run}.tool-`)) continue;
    const by = event.node['data_answered_by'] as { readonly source?: string; readonly sha256?: string };
    if (!mayHaveAnswered(sources, by))
      throw fail(
        'E_RUN_REUSED',
        `tools of ${run} were answered by ${NAMES[by.source ?? ''] ?? 'somebody else'}: name the same sources, or give the run another id`,
      );
  }
};

const NAMES: Readonly<Record<string, string>> = {
  recording: 'the recording',
  command: 'another command',
  person: 'somebody who was asked',
};
