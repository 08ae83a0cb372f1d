import { hashOfSession, sessionInParameters } from '@stemma/model-apis';
import type { Redactor } from '@stemma/redaction';

import type { UnplacedCall } from './record-request-types.ts';

/**
 * A hash of the session that a call's client named in a header, or else in its parameters (calls §3.14); undefined: it named none, or
 * rules take out what it named.
 */
export const namedSession = (
  { facts: { api, parameters, session } }: Pick<UnplacedCall, 'facts'>,
  redactor: Redactor | undefined,
): string | undefined => {
  if (session !== undefined) return session;
  const named = sessionInParameters(api, parameters);
  if (named === undefined || (redactor !== undefined && redactor.text(named) !== named)) return undefined;
  return hashOfSession(named);
};
