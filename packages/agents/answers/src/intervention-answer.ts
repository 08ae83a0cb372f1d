import type { InterventionAnswer } from '@stemma/api';
import type { Intervention as RecordedIntervention } from '@stemma/queries';

/** An intervention as the contract has it. */
export const interventionAnswer = (one: RecordedIntervention): InterventionAnswer => ({
  ...one,
  content: { ...one.content },
  annotations: [...one.annotations],
});
