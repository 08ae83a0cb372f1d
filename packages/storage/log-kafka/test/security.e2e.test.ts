import { errorToJson } from '@stemma/errors';
import { missingTools } from '@stemma/test-kit';
import kafkajs from 'kafkajs';
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openKafkaLog, openPublisher, readKafkaSecurity, type KafkaLog } from '../src/index.ts';
import { newPrefix, until } from './fault-kit.ts';
import { clientCertificate, SECRETS, startSecureBroker, type SecureBroker } from './secure-broker.ts';

const missingOpenssl = (): string | undefined => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'no openssl here, which makes the certificates';
  }
};
const missing = missingTools() ?? missingOpenssl();

describe('a broker with TLS, SASL and access control', () => {
  let own: SecureBroker;
  /** All that clients said: no secret may stand in it. */
  const said: string[] = [];
  beforeAll(async () => {
    if (missing === undefined) own = await startSecureBroker();
  }, 600_000);
  afterAll(async () => {
    if (missing === undefined) await own[Symbol.asyncDispose]();
  });
  beforeEach(({ skip }) => {
    if (missing !== undefined) skip(missing);
  });

  type Listener = keyof SecureBroker['at'];
  type Environment = Readonly<Record<string, string>>;
  const set = (settings: Environment): Environment =>
    Object.fromEntries(Object.entries(settings).map(([name, value]) => [`STEMMA_KAFKA_${name}`, value]));
  const open = async (listener: Listener, settings: Environment, more: object = {}): Promise<KafkaLog> => {
    const security = readKafkaSecurity(set(settings));
    said.push(inspect(security, { depth: 9 }));
    try {
      return await openKafkaLog({
        brokers: [own.at[listener]],
        prefix: newPrefix(),
        partitions: 1,
        security,
        deadline: 20_000,
        ...more,
      });
    } catch (error) {
      said.push(JSON.stringify(errorToJson(error)), inspect(error, { depth: 9 }));
      throw error;
    }
  };
  const works = async (log: KafkaLog): Promise<void> => {
    const [placed] = await log.append(0, [{ key: 'k', bytes: new Uint8Array([1, 2, 3]) }]);
    expect((await log.read(0, placed?.offset ?? 0)).records.length).toBe(1);
  };
  const onTls = (): Environment => ({ SECURITY_PROTOCOL: 'SSL', CA_FILE: own.file('authority.pem') });
  const onSasl = (mechanism: string): Environment => ({
    SECURITY_PROTOCOL: 'SASL_SSL',
    CA_FILE: own.file('authority.pem'),
    SASL_MECHANISM: mechanism,
  });
  const asAna = (mechanism: string): Environment => ({
    ...onSasl(mechanism),
    USERNAME: 'ana',
    PASSWORD: SECRETS.password,
  });
  /** A token that the broker's unsecured validator takes. */
  const token = (subject: string, seconds = 3600): string => {
    const now = Math.floor(Date.now() / 1000);
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    return `${part({ alg: 'none' })}.${part({ sub: subject, iat: now - 60, exp: now + seconds })}.`;
  };

  it('a log is written and read with a client certificate and its key under a passphrase', async () => {
    writeFileSync(own.file('passphrase'), `${SECRETS.passphrase}\n`);
    const log = await open('mutual', {
      ...onTls(),
      CERT_FILE: own.file('client.pem'),
      KEY_FILE: own.file('client-locked.key'),
      KEY_PASSPHRASE_FILE: own.file('passphrase'),
    });
    await works(log);
    await log.close();
  });

  it.each(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'])(
    'a log is written and read after a login by %s',
    async (mechanism) => {
      const log = await open('sasl', asAna(mechanism));
      await works(log);
      await log.close();
    },
  );

  it('a log is written and read after a login by PLAIN without TLS, with the password of a file', async () => {
    writeFileSync(own.file('password'), `${SECRETS.password}\n`);
    const log = await open('clear', {
      SECURITY_PROTOCOL: 'SASL_PLAINTEXT',
      SASL_MECHANISM: 'PLAIN',
      USERNAME: 'ana',
      PASSWORD_FILE: own.file('password'),
    });
    await works(log);
    await log.close();
  });

  it('a publisher sends after a login by SCRAM', async () => {
    const security = readKafkaSecurity(set(asAna('SCRAM-SHA-256')));
    const publisher = await openPublisher({ brokers: [own.at.sasl], topic: newPrefix(), security });
    await publisher.send([{ key: 'k', value: 'v', headers: {} }]);
    await publisher.close();
  });

  it('a token command is run again before its token ends, while the log is in use', async () => {
    const [file, runs] = [own.file('token'), own.file('runs')];
    writeFileSync(runs, '');
    writeFileSync(
      file,
      JSON.stringify({ token: token('ana', 25), expires: Math.floor(Date.now() / 1000) + 25 }),
    );
    const log = await open('sasl', {
      ...onSasl('OAUTHBEARER'),
      TOKEN_COMMAND: `echo run >> '${runs}'; cat '${file}'`,
    });
    const count = (): number => readFileSync(runs, 'utf8').length / 4;
    const before = count();
    writeFileSync(file, token('ana'));
    const ended = Date.now() + 27_000;
    while (Date.now() < ended || count() <= before) {
      await works(log);
      expect(Date.now()).toBeLessThan(ended + 60_000);
    }
    expect(count()).toBeGreaterThan(before);
    await log.close();
  }, 200_000);

  it('a client certificate that was renewed is used by the next connection, without a restart of the client', async () => {
    const [cert, key] = [own.file('current.pem'), own.file('current.key')];
    copyFileSync(own.file('client.pem'), cert);
    copyFileSync(own.file('client.key'), key);
    const log = await open('mutual', { ...onTls(), CERT_FILE: cert, KEY_FILE: key });
    await works(log);
    clientCertificate(own.file(''), 'renewed', 'authority');
    copyFileSync(own.file('renewed.pem'), cert);
    copyFileSync(own.file('renewed.key'), key);
    await own.broker.stop('SIGKILL');
    await own.broker.start();
    await until('the log to answer', () => true);
    await works(log);
    await log.close();
  }, 400_000);

  it.each<[string, Listener, () => Environment, string, RegExp]>([
    [
      'an unknown authority',
      'tls',
      () => ({ SECURITY_PROTOCOL: 'SSL' }),
      'E_BROKERS_UNTRUSTED',
      /authority that is not trusted.*STEMMA_KAFKA_CA_FILE/,
    ],
    [
      'a wrong server name',
      'tls',
      () => ({ ...onTls(), SERVER_NAME: 'other.example' }),
      'E_BROKERS_UNTRUSTED',
      /not for other\.example.*STEMMA_KAFKA_SERVER_NAME/,
    ],
    ['no client certificate', 'mutual', onTls, 'E_BROKERS_LOGIN', /STEMMA_KAFKA_CERT_FILE/],
    [
      'the client certificate of another authority',
      'mutual',
      () => ({ ...onTls(), CERT_FILE: own.file('foreign.pem'), KEY_FILE: own.file('foreign.key') }),
      'E_BROKERS_LOGIN',
      /STEMMA_KAFKA_CERT_FILE/,
    ],
    [
      'a wrong password by PLAIN',
      'sasl',
      () => ({ ...asAna('PLAIN'), PASSWORD: SECRETS.wrong }),
      'E_BROKERS_LOGIN',
      /refuse the user ana with PLAIN/,
    ],
    [
      'a wrong password by SCRAM',
      'sasl',
      () => ({ ...asAna('SCRAM-SHA-512'), PASSWORD: SECRETS.wrong }),
      'E_BROKERS_LOGIN',
      /refuse the user ana with SCRAM-SHA-512/,
    ],
    [
      'a token that is none',
      'sasl',
      () => ({ ...onSasl('OAUTHBEARER'), TOKEN_COMMAND: `echo ${SECRETS.wrong}` }),
      'E_BROKERS_LOGIN',
      /token/,
    ],
    [
      'a token command that fails',
      'sasl',
      () => ({ ...onSasl('OAUTHBEARER'), TOKEN_COMMAND: 'exit 3' }),
      'E_BROKERS_LOGIN',
      /ended with 3/,
    ],
    [
      'a mechanism that the listener lacks',
      'clear',
      () => ({
        SECURITY_PROTOCOL: 'SASL_PLAINTEXT',
        SASL_MECHANISM: 'SCRAM-SHA-256',
        USERNAME: 'ana',
        PASSWORD: SECRETS.password,
      }),
      'E_BROKERS_PROTOCOL',
      /STEMMA_KAFKA_SASL_MECHANISM/,
    ],
    ['plaintext to a TLS port', 'tls', () => ({}), 'E_BROKERS_', /TLS.*STEMMA_KAFKA_SECURITY_PROTOCOL/],
    ['TLS to a plaintext port', 'plain', onTls, 'E_BROKERS_', /TLS.*STEMMA_KAFKA_SECURITY_PROTOCOL/],
    ['no login at a SASL port', 'clear', () => ({}), 'E_BROKERS_', /SASL.*STEMMA_KAFKA_SECURITY_PROTOCOL/],
  ])('%s is said in its own words, with what to change', async (_, listener, settings, code, words) => {
    const error: unknown = await open(listener, settings(), { deadline: 4_000 }).catch(
      (caught: unknown) => caught,
    );
    expect(error).toMatchObject({
      code: expect.stringContaining(code) as string,
      message: expect.stringMatching(words) as string,
    });
  });

  it('a right that is missing is named with its topic and the principal', async () => {
    const admin = new kafkajs.Kafka({ brokers: [own.at.plain], logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    const prefix = `acl-${randomUUID()}`;
    const topic = `${prefix}.frames`;
    const allow = (operation: kafkajs.AclOperationTypes): Promise<unknown> =>
      admin.createAcls({
        acl: [
          {
            resourceType: kafkajs.AclResourceTypes.TOPIC,
            resourceName: topic,
            resourcePatternType: kafkajs.ResourcePatternTypes.LITERAL,
            principal: 'User:bo',
            host: '*',
            operation,
            permissionType: kafkajs.AclPermissionTypes.ALLOW,
          },
        ],
      });
    const asBo = (): Promise<KafkaLog> => open('sasl', { ...asAna('PLAIN'), USERNAME: 'bo' }, { prefix });
    const lacks = (right: string) => ({
      code: 'E_BROKERS_DENIED',
      message: `the principal User:bo lacks the right ${right} on topic ${topic}`,
    });
    const types = kafkajs.AclOperationTypes;
    await expect(asBo()).rejects.toMatchObject(lacks('DESCRIBE'));
    await (await open('sasl', asAna('PLAIN'), { prefix })).close();
    // An access control list takes a moment to hold.
    const after = async (operation: kafkajs.AclOperationTypes, right: string): Promise<void> => {
      await allow(operation);
      await expect
        .poll(
          () =>
            asBo().then(
              (log) => log.close(),
              (error: unknown) => error,
            ),
          { timeout: 30_000 },
        )
        .toMatchObject(lacks(right));
    };
    await after(types.DESCRIBE, 'DESCRIBE_CONFIGS');
    await after(types.DESCRIBE_CONFIGS, 'READ');
    await allow(types.READ);
    let reader: KafkaLog | undefined;
    await expect
      .poll(async () => (reader = await asBo().catch(() => undefined)) !== undefined, { timeout: 30_000 })
      .toBe(true);
    await expect(reader?.append(0, [{ key: 'k', bytes: new Uint8Array([1]) }])).rejects.toMatchObject({
      ...lacks('WRITE'),
      detail: { written: false },
    });
    await allow(types.WRITE);
    await expect
      .poll(
        () =>
          reader?.append(0, [{ key: 'k', bytes: new Uint8Array([1]) }]).then(
            () => 'written',
            () => 'refused',
          ),
        { timeout: 30_000 },
      )
      .toBe('written');
    await reader?.close();
    await admin.disconnect();
  }, 200_000);

  it('no secret stands in what was said', () => {
    expect(said.length).toBeGreaterThan(20);
    for (const secret of Object.values(SECRETS))
      expect(said.filter((text) => text.includes(secret))).toEqual([]);
  });
});
