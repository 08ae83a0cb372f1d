import type { ContentStore } from '@stemma/contents';
import type { Command } from '@stemma/history';
import type { EventLog, Writer } from '@stemma/log';
import type { Projector } from '@stemma/projector';
import type { RowStore } from '@stemma/row-store';
import type { Background } from './background.ts';
import type { LogAddress } from './open-log.ts';

/** The parts of an open home, for programs that build on them. */
export type Parts = {
  readonly directory: string;
  readonly log: EventLog;
  readonly place: LogAddress;
  /** The folder of the rows. */
  readonly rowsAt: string;
  readonly contents: ContentStore;
  readonly rows: RowStore;
  readonly projector: Projector;
  readonly writer: Writer<Command>;
  readonly background: Background;
  readonly clock: () => bigint;
};
