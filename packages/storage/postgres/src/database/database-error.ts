import { StemmaError, type ErrorCode } from '@stemma/errors';

/** For a prepared statement that is gone, or that another client prepared: the server session is not ours alone. */
export const POOLED =
  'a connection pooler sends the statements of one connection to several sessions: set it to session pooling';

/** Our code for each class or code of SQLSTATE (PostgreSQL's documentation, appendix A); the longest match counts. */
const STATES: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  '08': ['E_DATABASE_UNREACHABLE', 'the connection was lost'],
  '57P': ['E_DATABASE_UNREACHABLE', 'it is starting, stopping, or recovers'],
  '57014': ['E_DATABASE_UNREACHABLE', 'it did not answer in time'],
  '25006': ['E_DATABASE_UNREACHABLE', 'it is a standby, which only reads'],
  '25P03': ['E_DATABASE_UNREACHABLE', 'this transaction was idle for too long'],
  '53': ['E_DATABASE_UNREACHABLE', 'it has not enough memory, connections or disk'],
  '40': ['E_BUSY', 'other transactions write the same rows'],
  '55P03': ['E_BUSY', 'others hold a lock'],
  '28': ['E_DATABASE_REFUSED', 'it refuses the user or the password'],
  '3D000': ['E_DATABASE_REFUSED', 'there is no such database'],
  '42501': ['E_DATABASE_REFUSED', 'the user may not do this'],
  '26000': ['E_DATABASE_REFUSED', POOLED],
  '42P05': ['E_DATABASE_REFUSED', POOLED],
  '58': ['E_IO', 'its disk refused'],
  XX001: ['E_ROWS_DAMAGED', 'its data are damaged'],
  XX002: ['E_ROWS_DAMAGED', 'an index of it is damaged'],
};

/** Codes and words of OpenSSL and Node.js for a server whose identity is not proven. */
const UNTRUSTED =
  /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO|does not support SSL|invalid response to SSL|HOSTNAME_MISMATCH/i;
const LOST =
  /^E(CONN|PIPE|TIMEDOUT|HOST|NET|AI_|ADDR|NOTFOUND)|terminated|timeout|not queryable|was closed|Connection ended/i;

/** @returns the SQLSTATE or the code of the system that an error has; empty if it has none */
export const sqlStateOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/**
 * Turns an error of the library, the network or the server into one with our code. Its message repeats what the server
 * says, which never contains a password.
 *
 * @param name the database as `host:port/database`
 */
export const databaseError = (error: unknown, name: string): StemmaError => {
  if (error instanceof StemmaError) return error;
  const said = messageOf(error);
  const state = sqlStateOf(error);
  const [code, why] = meaningOf(state, said);
  return new StemmaError(code, `the database ${name}: ${why} (${said})`, state === '' ? {} : { state }, {
    cause: error,
  });
};

const meaningOf = (state: string, said: string): readonly [ErrorCode, string] => {
  for (let length = state.length; length >= 2; length--) {
    const known = STATES[state.slice(0, length)];
    if (known !== undefined && /^[0-9A-Z]{5}$/.test(state)) return known;
  }
  if (UNTRUSTED.test(state) || UNTRUSTED.test(said))
    return ['E_DATABASE_UNTRUSTED', 'its certificate does not prove that it is the right server'];
  if (LOST.test(state) || LOST.test(said)) return ['E_DATABASE_UNREACHABLE', 'it cannot be reached'];
  return ['E_INTERNAL', 'it refused a statement'];
};

/** A host with several addresses gives an error with a reason for each; the first one is enough. */
const messageOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
};
