import { fail } from '@stemma/errors';
import { readRegularFile } from '@stemma/machine';

/** The address of a PostgreSQL database, as `STEMMA_ROWS` gives it. */
export type DatabaseAddress = {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** Undefined: `PGPASSWORD` has it, or there is none. */
  readonly password: string | undefined;
  /** How TLS checks the server; false: no TLS. */
  readonly tls: false | { readonly host: string; readonly rejectUnauthorized: boolean; readonly ca?: string };
  /** The largest number of connections at the same time. */
  readonly pool: number;
  /** `host:port/database`, for messages. */
  readonly name: string;
};

const PARAMETERS = ['sslmode', 'sslrootcert', 'pool'];
const DEFAULT_POOL = 8;

/**
 * Reads `postgres://USER[:PASSWORD]@HOST[:PORT]/DATABASE[?sslmode=disable|require|verify-full][&sslrootcert=FILE][&pool=N]`.
 * `require` encrypts but does not check who answers. `verify-full` also requires a certificate for the host, signed by an
 * authority that the machine or the file knows. Without `sslmode` nothing is encrypted.
 *
 * @throws E_USAGE; the message never contains the password
 */
export const readAddress = (text: string): DatabaseAddress => {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw usage('it is not a URL');
  }
  if (!['postgres:', 'postgresql:'].includes(url.protocol)) throw usage('this one has another scheme');
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) throw usage(`it has the parameter ${unknown}`);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const [user, database] = [decoded(url.username), decoded(url.pathname.slice(1))];
  if (host === '' || user === '' || database === '')
    throw usage('it lacks the user, the host or the database');
  const port = url.port === '' ? 5432 : Number(url.port);
  const pool = Number(url.searchParams.get('pool') ?? DEFAULT_POOL);
  if (!Number.isInteger(pool) || pool < 1 || pool > 1_000) throw usage('pool is a number from 1 to 1000');
  return {
    host,
    port,
    database,
    user,
    password: url.password === '' ? undefined : decoded(url.password),
    tls: tlsOf(host, url.searchParams.get('sslmode'), url.searchParams.get('sslrootcert')),
    pool,
    name: `${url.host.includes(':') ? url.host : `${url.host}:${port}`}/${database}`,
  };
};

const tlsOf = (host: string, mode: string | null, file: string | null): DatabaseAddress['tls'] => {
  if (mode === null || mode === 'disable') return false;
  if (mode === 'require') return { host, rejectUnauthorized: false };
  if (mode !== 'verify-full') throw usage(`sslmode is disable, require or verify-full, not ${mode}`);
  if (file === null) return { host, rejectUnauthorized: true };
  try {
    return { host, rejectUnauthorized: true, ca: readRegularFile(file).toString() };
  } catch {
    throw usage(`the file ${file} of sslrootcert cannot be read`);
  }
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    throw usage('a % in it is not followed by two hexadecimal digits');
  }
};

const usage = (why: string): Error =>
  fail(
    'E_USAGE',
    `the address of a database must be postgres://USER[:PASSWORD]@HOST[:PORT]/DATABASE[?sslmode=…&sslrootcert=…&pool=N]; ${why}`,
  );
