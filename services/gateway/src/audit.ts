import { type AnswerOf, type Endpoints, type InputOf } from '@stemma/api';
import type { Home } from '@stemma/home';

type AuditEndpoint = 'runExperiment';
type AuditHandlers = {
  readonly [Name in AuditEndpoint]: (input: InputOf<Endpoints[Name]>) => Promise<AnswerOf<Endpoints[Name]>>;
};
/** Runs experiments. */
export const auditHandlers = (home: Home): AuditHandlers => ({
  runExperiment: ({ body: { experiment, name = null } }) =>
    home.operations.experiments.run(experiment, { name }),
});
