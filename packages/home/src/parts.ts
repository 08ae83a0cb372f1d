import type { Command } from '@stemma/history';
import type { EventLog, Writer } from '@stemma/log';
import type { ServedRows } from '@stemma/projector';
import type { Background } from './background.ts';
import type { LogAddress } from './open-log.ts';
import type { OpenedRows } from './open-rows.ts';

/** The parts of an open home, for programs that build on them. */
export type Parts = {
  readonly directory: string;
  readonly log: EventLog;
  readonly place: LogAddress;
  readonly opened: OpenedRows;
  /** What is read of it. */
  readonly projector: ServedRows;
  readonly writer: Writer<Command>;
  readonly background: Background;
  readonly clock: () => bigint;
};
