import { fail } from '@stemma/errors';
import { answerCall } from './answer-call.ts';
import { editMessage } from './edit-message.ts';
import { fromCall } from './from-call.ts';
import { injectMessage } from './inject-message.ts';
import type { WhatIf } from '@stemma/reruns';
import type { WhatIfKind, WhatIfSources } from './what-if.ts';
import { withoutIntervention } from './without-intervention.ts';

/** Every kind of question, in the order of the command's help. */
export const WHAT_IFS: readonly WhatIfKind[] = [
  fromCall,
  editMessage,
  injectMessage,
  answerCall,
  withoutIntervention,
];

/** The question that options ask; null: none. @throws E_USAGE for two, and for a value that an option does not take */
export const readWhatIf = async (
  given: Readonly<Record<string, unknown>>,
  sources: WhatIfSources,
): Promise<WhatIf | null> => {
  const asked = WHAT_IFS.flatMap((kind) => {
    const value = given[kind.name];
    return typeof value === 'string' ? [{ kind, value }] : [];
  });
  const [first, second] = asked;
  if (first === undefined) return null;
  if (second !== undefined)
    throw fail('E_USAGE', `--${first.kind.name} and --${second.kind.name} ask two questions: give one`);
  return first.kind.read(first.value, sources);
};
