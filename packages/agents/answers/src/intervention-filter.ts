import type { Endpoints, InputOf } from '@stemma/api';
import type { InterventionFilter } from '@stemma/queries';
import { defined, nanosecondsOf } from '@stemma/values';

type InterventionQueryInput = Omit<InputOf<Endpoints['interventionLines']>, 'history' | 'format'>;

/** The filter that a question names. */
export const filterOf = ({
  type,
  actor,
  after,
  before,
  snapshot,
  branch,
}: InterventionQueryInput): InterventionFilter =>
  defined({
    type,
    actor,
    after: after === undefined ? undefined : nanoseconds(after),
    before: before === undefined ? undefined : nanoseconds(before),
    snapshot,
    branch,
  });

const nanoseconds = (time: string): bigint => nanosecondsOf(Date.parse(time));
