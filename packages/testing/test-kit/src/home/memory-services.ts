import { openCommandHandler, type CommandHandler } from '@stemma/command-handler';
import { openMemoryContents } from '@stemma/contents';
import type { BranchRef, Position, TreeView } from '@stemma/history-store';
import type { EventLog } from '@stemma/log';
import type { Services } from '@stemma/operations';
import { openKeyring } from '@stemma/privacy';
import { openProjector, type Projector } from '@stemma/projector';
import { positionOf, viewOf } from '@stemma/queries';
import { openMemoryRowStore } from '@stemma/row-store';

/** What a home is made of, over a log that a test can damage. Only replays use the directory. */
export type MemoryServices = Services & {
  readonly projector: Projector;
  readonly handler: CommandHandler;
  readonly position: (branch: BranchRef, ref: string) => Promise<Position>;
  readonly view: (position: Position) => Promise<TreeView>;
};

export const memoryServices = (log: EventLog, directory: string): MemoryServices => {
  const contents = openMemoryContents();
  const projector = openProjector({ log, contents, store: openMemoryRowStore() });
  const clock = (): bigint => 1_700_000_000_000_000_000n;
  return {
    directory,
    log,
    logAddress: { address: 'memory', facts: null },
    contents,
    projection: projector,
    projectors: [projector],
    usage: () => Promise.resolve({ rows: 0, contents: 0 }),
    repairs: [],
    keyring: openKeyring(directory),
    clock,
    projector,
    handler: openCommandHandler({ log, contents, rows: projector, clock, accepted: () => undefined }),
    position: (branch, ref) => projector.read((rows) => positionOf(rows, branch, ref)),
    view: (position) => viewOf(projector, position),
  };
};
