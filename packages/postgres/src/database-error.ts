import { StemmaError, type ErrorCode } from '@stemma/errors';

/** A statement that this connection prepared is not there, or one that it did not prepare is. */
export const POOLED =
  'a pool before it hands the statements of one connection to several sessions: let the pool keep sessions';

/** Classes and codes of SQLSTATE (PostgreSQL's documentation, appendix A) that have a code of ours; the longest wins. */
const STATES: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  '08': ['E_DATABASE_UNREACHABLE', 'the connection was lost'],
  '57P': ['E_DATABASE_UNREACHABLE', 'it is starting, stopping, or recovers'],
  '57014': ['E_DATABASE_UNREACHABLE', 'it did not answer in time'],
  '25006': ['E_DATABASE_UNREACHABLE', 'it is a standby, which only reads'],
  '25P03': ['E_DATABASE_UNREACHABLE', 'we were idle in the middle for too long'],
  '53': ['E_DATABASE_UNREACHABLE', 'it has not enough memory, connections or disk'],
  '40': ['E_BUSY', 'others write the same'],
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

/** What OpenSSL and Node.js say of a server that is not the one to be trusted. */
const UNTRUSTED =
  /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ERR_SSL|EPROTO|does not support SSL|invalid response to SSL|HOSTNAME_MISMATCH/i;
const LOST =
  /^E(CONN|PIPE|TIMEDOUT|HOST|NET|AI_|ADDR|NOTFOUND)|terminated|timeout|not queryable|was closed|Connection ended/i;

/** @returns the code of SQLSTATE or of the system, where an error has one */
export const sqlStateOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/**
 * An error with a code of ours for what the library, the network or the server gave. What the server says is told on; it
 * never holds a password, and neither does `name`.
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
    return ['E_DATABASE_UNTRUSTED', 'it is not proven to be the one that was asked for'];
  if (LOST.test(state) || LOST.test(said)) return ['E_DATABASE_UNREACHABLE', 'it cannot be reached'];
  return ['E_INTERNAL', 'it does not do what was asked'];
};

/** Several addresses of one host fail together, each with a reason. */
const messageOf = (error: unknown): string => {
  if (error instanceof AggregateError && error.errors.length > 0) return messageOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
};
