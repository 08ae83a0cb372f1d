import type { Home } from '@stemma/home';
import type { ReadRun, WhatIf } from '@stemma/reruns';

/** What a question is read with. */
export type WhatIfSources = {
  readonly home: Pick<Home, 'calls'>;
  readonly run: ReadRun;
  /** The text of a file, without the line end behind it. @throws what keeps it from being read */
  readonly readFile: (file: string) => Promise<string>;
};

/** A kind of question, as an option of the command. A new one is a file and a line in `all.ts`. */
export type WhatIfKind = {
  readonly name: string;
  readonly option: readonly [syntax: string, description: string];
  /** @throws E_USAGE for a value that the option does not take */
  readonly read: (given: string, sources: WhatIfSources) => Promise<WhatIf>;
};
