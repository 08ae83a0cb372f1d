import type { CommandHandler } from '@stemma/command-handler';
import type { Services } from '@stemma/operations';
import type { Prices } from '@stemma/queries';
import type { Redactor } from '@stemma/redaction';
import type { Background } from './background.ts';
import type { OpenedRows } from './open-rows.ts';

/** The parts of an open home. */
export type HomeServices = Services & {
  readonly rows: OpenedRows;
  readonly handler: CommandHandler;
  readonly background: Background;
  /** Undefined if nothing is redacted. */
  readonly redactor: Redactor | undefined;
  readonly prices: Prices;
};
