import { fail, type ErrorDetail } from '@stemma/errors';
import { readRegularFile } from '@stemma/machine';
import { defined } from '@stemma/values';
import { closest } from 'fastest-levenshtein';
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { z } from 'zod';

/** How connections are encrypted and who they are of. Files are read again for each connection, secrets for each login. */
export type KafkaSecurity = {
  readonly tls: KafkaTls | undefined;
  readonly sasl: KafkaSasl | undefined;
  /** Whom the brokers take this client for, as their access control lists name it; undefined if only they know. */
  readonly principal: () => string | undefined;
};

export type KafkaTls = {
  readonly ca: () => string | undefined;
  readonly cert: () => string | undefined;
  readonly key: () => string | undefined;
  readonly passphrase: () => string | undefined;
  readonly serverName: string | undefined;
};

export type KafkaSasl =
  | {
      readonly mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512';
      readonly username: string;
      readonly password: () => string;
    }
  | { readonly mechanism: 'OAUTHBEARER'; readonly command: () => string };

/** One setting: its name, what it means, and what holds without it. */
export type KafkaSetting = {
  readonly name: `STEMMA_KAFKA_${string}`;
  readonly meaning: string;
  readonly default: string;
  readonly value: z.ZodType<string>;
};

const some = z.string().min(1);

// prettier-ignore
/** Every setting of the connections to Kafka; docs/running.md has this table. */
export const KAFKA_SETTINGS = [
  { name: 'STEMMA_KAFKA_SECURITY_PROTOCOL', meaning: '`PLAINTEXT`, `SSL` (TLS), `SASL_PLAINTEXT` or `SASL_SSL`', default: '`PLAINTEXT`', value: z.enum(['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL']) },
  { name: 'STEMMA_KAFKA_CA_FILE', meaning: 'authorities that may sign the certificates of brokers, PEM', default: 'those of Node.js', value: some },
  { name: 'STEMMA_KAFKA_CERT_FILE', meaning: 'certificate of this client, with those between it and its authority, PEM', default: 'none', value: some },
  { name: 'STEMMA_KAFKA_KEY_FILE', meaning: 'private key of that certificate, PEM', default: 'none', value: some },
  { name: 'STEMMA_KAFKA_KEY_PASSPHRASE', meaning: 'passphrase of the key', default: 'none', value: some },
  { name: 'STEMMA_KAFKA_KEY_PASSPHRASE_FILE', meaning: 'file with that passphrase', default: 'none', value: some },
  { name: 'STEMMA_KAFKA_SERVER_NAME', meaning: 'name that the certificates of brokers must have', default: 'host of each broker', value: z.string().regex(/^[A-Za-z0-9.:-]{1,253}$/) },
  { name: 'STEMMA_KAFKA_SASL_MECHANISM', meaning: '`PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512` or `OAUTHBEARER`', default: 'none', value: z.enum(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER']) },
  { name: 'STEMMA_KAFKA_USERNAME', meaning: 'user of PLAIN and SCRAM', default: 'none', value: some },
  { name: 'STEMMA_KAFKA_PASSWORD', meaning: 'password of the user', default: 'none', value: some },
  { name: 'STEMMA_KAFKA_PASSWORD_FILE', meaning: 'file with that password', default: 'none', value: some },
  { name: 'STEMMA_KAFKA_TOKEN_COMMAND', meaning: 'command line that prints a token, or `{"token": …, "expires": …}`', default: 'none', value: some },
] as const satisfies readonly KafkaSetting[];

type Name = (typeof KAFKA_SETTINGS)[number]['name'];

const NAMES: readonly string[] = KAFKA_SETTINGS.map(({ name }) => name);

/** Variables of the same beginning that only tests read. */
const OF_TESTS: readonly string[] = ['STEMMA_KAFKA_KILLS', 'STEMMA_KAFKA_TRANSCRIPTS'];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads how to connect to brokers, and reads each file once to see that it can be used. An unknown name is a fault: a
 * misspelt one must not switch encryption off.
 *
 * @throws E_CONFIG_INVALID that names every fault, and holds no value of a secret
 */
export const readKafkaSecurity = (environment: Environment): KafkaSecurity => {
  const faults: ErrorDetail & Record<string, string> = {};
  for (const name of Object.keys(environment))
    if (name.startsWith('STEMMA_KAFKA_') && !OF_TESTS.includes(name) && !isSetting(name))
      faults[name] = `is no setting; the nearest is ${closest(name, NAMES)}`;
  const values = new Map<Name, string>();
  for (const { name, meaning, value } of KAFKA_SETTINGS) {
    const text = environment[name] ?? '';
    if (text === '') continue;
    if (value.safeParse(text).success) values.set(name, text);
    else faults[name] = `must be ${meaning}`;
  }
  const [protocol = 'PLAINTEXT', mechanism] = [
    values.get('STEMMA_KAFKA_SECURITY_PROTOCOL'),
    values.get('STEMMA_KAFKA_SASL_MECHANISM'),
  ];
  const [hasTls, hasSasl] = [protocol.endsWith('SSL'), protocol.startsWith('SASL')];
  for (const [name, why] of Object.entries(misplaced(values, hasTls, hasSasl, mechanism)))
    faults[name] ??= why;
  const tls = hasTls ? tlsOf(values) : undefined;
  const password = secretOf(values, 'STEMMA_KAFKA_PASSWORD');
  for (const read of [tls?.ca, tls?.cert, tls?.key, tls?.passphrase, password]) noteFault(faults, read);
  if (tls !== undefined && Object.keys(faults).length === 0) Object.assign(faults, unusable(tls));
  const found = Object.entries(faults);
  if (found.length > 0)
    throw fail('E_CONFIG_INVALID', found.map(([name, why]) => `${name} ${why}`).join('; '), faults);
  const sasl = hasSasl ? saslOf(values, mechanism as KafkaSasl['mechanism'], password) : undefined;
  return { tls, sasl, principal: () => principalOf(tls, sasl) };
};

const isSetting = (name: string): boolean => NAMES.includes(name);

/** What is missing, or has no effect where it stands. */
const misplaced = (
  values: ReadonlyMap<Name, string>,
  hasTls: boolean,
  hasSasl: boolean,
  mechanism: string | undefined,
): Record<string, string> => {
  const faults: Record<string, string> = {};
  const has = (end: string): boolean => values.has(`STEMMA_KAFKA_${end}` as Name);
  const note = (end: string, why: string): void => void (faults[`STEMMA_KAFKA_${end}`] = why);
  const named = (of: readonly string[]): readonly string[] => of.filter(has);
  const [byToken, byPassword] = [mechanism === 'OAUTHBEARER', hasSasl && mechanism !== 'OAUTHBEARER'];
  const ofTls = ['CA_FILE', 'CERT_FILE', 'KEY_FILE', 'KEY_PASSPHRASE', 'KEY_PASSPHRASE_FILE', 'SERVER_NAME'];
  if (!hasTls)
    for (const end of named(ofTls)) note(end, 'needs STEMMA_KAFKA_SECURITY_PROTOCOL=SSL or SASL_SSL');
  if (!hasSasl)
    for (const end of named(['SASL_MECHANISM', 'USERNAME', 'PASSWORD', 'PASSWORD_FILE', 'TOKEN_COMMAND']))
      note(end, 'needs STEMMA_KAFKA_SECURITY_PROTOCOL=SASL_SSL or SASL_PLAINTEXT');
  if (hasSasl && mechanism === undefined) note('SASL_MECHANISM', 'is missing');
  if (hasSasl && byToken && !has('TOKEN_COMMAND')) note('TOKEN_COMMAND', 'is missing');
  if (byPassword && mechanism !== undefined) {
    if (!has('USERNAME')) note('USERNAME', 'is missing');
    if (!has('PASSWORD') && !has('PASSWORD_FILE')) note('PASSWORD_FILE', 'is missing');
  }
  for (const secret of ['PASSWORD', 'KEY_PASSPHRASE'])
    if (has(secret) && has(`${secret}_FILE`))
      note(secret, `stands beside STEMMA_KAFKA_${secret}_FILE: set one`);
  if (has('CERT_FILE') !== has('KEY_FILE'))
    note(has('CERT_FILE') ? 'KEY_FILE' : 'CERT_FILE', 'is missing: a certificate and its key go together');
  return faults;
};

const tlsOf = (values: ReadonlyMap<Name, string>): KafkaTls => ({
  ca: fileOf(values, 'STEMMA_KAFKA_CA_FILE'),
  cert: fileOf(values, 'STEMMA_KAFKA_CERT_FILE'),
  key: fileOf(values, 'STEMMA_KAFKA_KEY_FILE'),
  passphrase: secretOf(values, 'STEMMA_KAFKA_KEY_PASSPHRASE'),
  serverName: values.get('STEMMA_KAFKA_SERVER_NAME'),
});

const saslOf = (
  values: ReadonlyMap<Name, string>,
  mechanism: KafkaSasl['mechanism'],
  password: () => string | undefined,
): KafkaSasl =>
  mechanism === 'OAUTHBEARER'
    ? { mechanism, command: () => values.get('STEMMA_KAFKA_TOKEN_COMMAND') ?? '' }
    : {
        mechanism,
        username: values.get('STEMMA_KAFKA_USERNAME') ?? '',
        password: () => password() ?? '',
      };

/** A secret from the variable, or from the file that the variable of that name with `_FILE` names. */
const secretOf = (
  values: ReadonlyMap<Name, string>,
  name: 'STEMMA_KAFKA_PASSWORD' | 'STEMMA_KAFKA_KEY_PASSPHRASE',
): (() => string | undefined) => {
  const read = fileOf(values, `${name}_FILE`);
  // An editor ends a file with a line end.
  return () => values.get(name) ?? read()?.replace(/\r?\n$/, '');
};

const fileOf = (values: ReadonlyMap<Name, string>, name: Name): (() => string | undefined) => {
  const path = values.get(name);
  return () => {
    if (path === undefined) return undefined;
    try {
      return readRegularFile(path).toString();
    } catch (cause) {
      throw new UnreadableFile(name, path, cause);
    }
  };
};

class UnreadableFile extends Error {
  readonly setting: Name;
  constructor(setting: Name, path: string, cause: unknown) {
    super(`${setting} names the file ${path}, which cannot be read`, { cause });
    this.setting = setting;
  }
}

const noteFault = (faults: Record<string, string>, read: (() => unknown) | undefined): void => {
  try {
    read?.();
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    faults[error.setting] = error.message.slice(error.setting.length + 1);
  }
};

/** Why the files of TLS cannot be used together. */
const unusable = (tls: KafkaTls): Record<string, string> => {
  const why = (of: () => unknown): boolean => {
    try {
      of();
      return false;
    } catch {
      return true;
    }
  };
  const [ca, cert, key, passphrase] = [tls.ca(), tls.cert(), tls.key(), tls.passphrase()];
  if (ca !== undefined && why(() => new X509Certificate(ca)))
    return { STEMMA_KAFKA_CA_FILE: 'names a file without a certificate in PEM' };
  if (cert !== undefined && why(() => createSecureContext({ cert })))
    return { STEMMA_KAFKA_CERT_FILE: 'names a file without a certificate in PEM' };
  if (why(() => createSecureContext(defined({ key, passphrase }))))
    return { STEMMA_KAFKA_KEY_FILE: 'names a key that cannot be read with its passphrase' };
  if (why(() => createSecureContext(defined({ cert, key, passphrase }))))
    return { STEMMA_KAFKA_KEY_FILE: 'names a key that is not that of the certificate' };
  return {};
};

const principalOf = (tls: KafkaTls | undefined, sasl: KafkaSasl | undefined): string | undefined => {
  if (sasl?.mechanism === 'OAUTHBEARER') return undefined;
  if (sasl !== undefined) return `User:${sasl.username}`;
  const cert = tls?.cert();
  if (cert === undefined) return 'User:ANONYMOUS';
  // Brokers write the parts of a name the other way round.
  return `User:${new X509Certificate(cert).subject.split('\n').reverse().join(',')}`;
};
