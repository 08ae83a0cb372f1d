import type { InterventionAnswer } from '@stemma/api';
import { addressById } from '../page/chosen.ts';

export type PositionLink = { readonly branch: string; readonly at: string };

/** The positions around an intervention. For a rollback the first is on the branch that it leaves. */
export const positionsAround = (
  intervention: InterventionAnswer,
): { readonly before: PositionLink | null; readonly after: PositionLink } => {
  const own = addressById(intervention.history, intervention.branchId);
  const abandoned =
    intervention.intervention_type === 'rollback' ? intervention.content['abandoned'] : undefined;
  return {
    before:
      intervention.snapshot_before === null
        ? null
        : { branch: typeof abandoned === 'string' ? abandoned : own, at: intervention.snapshot_before },
    after: { branch: own, at: intervention.snapshot_after },
  };
};
