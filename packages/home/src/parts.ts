import type { Frame } from '@stemma/events';
import type { Command } from '@stemma/history';
import type { EventLog, Writer } from '@stemma/log';
import type { ServedRows } from '@stemma/projector';
import type { Background } from './background.ts';
import type { LogAddress } from './open-log.ts';
import type { Position } from './place.ts';
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
  /** The position of a frame that the writer took in, where it was told (`SessionStart.placed`). */
  readonly positions: { get(frame: Frame): Position | undefined };
  readonly clock: () => bigint;
};
