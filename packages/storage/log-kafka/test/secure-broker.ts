import { brokerLibs, freePort, freePorts, startBroker, type Broker } from '@stemma/test-kit';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Secrets of the tests, each recognisable wherever it would be written. */
export const SECRETS = {
  password: 'canary-password-7Hq2',
  wrong: 'canary-wrong-9Zt4',
  passphrase: 'canary-passphrase-3Kx8',
} as const;

/** A broker with a listener of each kind, and what a client needs to connect to it. */
export type SecureBroker = AsyncDisposable & {
  readonly broker: Broker;
  readonly folder: string;
  /** `host:port` of its listeners. `sasl` has all mechanisms on TLS, `clear` PLAIN without TLS. */
  readonly at: Readonly<Record<'plain' | 'tls' | 'mutual' | 'sasl' | 'clear', string>>;
  /** A file in the folder of certificates. */
  readonly file: (name: string) => string;
};

const openssl = (folder: string, ...args: readonly string[]): void => {
  execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
};

const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'] as const;

const authority = (folder: string, name: string): void =>
  openssl(
    folder,
    'req',
    '-x509',
    ...EC,
    '-nodes',
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.pem`,
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
  );

const certificate = (folder: string, name: string, by: string, names: string): void => {
  openssl(
    folder,
    'req',
    ...EC,
    '-nodes',
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.csr`,
    '-subj',
    `/O=Stemma/CN=${name}`,
  );
  writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${names}\n`);
  openssl(
    folder,
    'x509',
    '-req',
    '-in',
    `${name}.csr`,
    '-CA',
    `${by}.pem`,
    '-CAkey',
    `${by}.key`,
    '-CAcreateserial',
    '-out',
    `${name}.pem`,
    '-days',
    '2',
    '-extfile',
    `${name}.ext`,
  );
};

/** Makes a client certificate that an authority of the folder signed. */
export const clientCertificate = (folder: string, name: string, by: string): void =>
  certificate(folder, name, by, 'DNS:client');

/** Starts one; it ends with `using`. ACLs hold for all but the listener `plain`, and `User:ana` may do everything. */
export const startSecureBroker = async (): Promise<SecureBroker> => {
  const root = mkdtempSync(join(tmpdir(), 'stemma-secure-'));
  const folder = join(root, 'certificates');
  mkdirSync(folder);
  const file = (name: string): string => join(folder, name);
  for (const name of ['authority', 'stranger']) authority(folder, name);
  certificate(folder, 'broker', 'authority', 'DNS:broker.example,DNS:localhost');
  for (const [name, by] of [
    ['client', 'authority'],
    ['foreign', 'stranger'],
  ] as const)
    clientCertificate(folder, name, by);
  openssl(
    folder,
    'pkcs8',
    '-topk8',
    '-v2',
    'aes256',
    '-in',
    'client.key',
    '-out',
    'client-locked.key',
    '-passout',
    `pass:${SECRETS.passphrase}`,
  );
  const read = (name: string): string => execFileSync('cat', [file(name)]).toString();
  writeFileSync(file('broker-store.pem'), read('broker.key') + read('broker.pem'));
  const ports = await freePorts();
  const [tls, mutual, sasl, clear] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const listeners = `PLAINTEXT://127.0.0.1:${ports.broker},TLS://127.0.0.1:${tls},MUTUAL://127.0.0.1:${mutual},SASL://127.0.0.1:${sasl},CLEAR://127.0.0.1:${clear}`;
  const modules = 'org.apache.kafka.common.security';
  const users = ['ana', 'bo'].map((name) => `user_${name}="${SECRETS.password}"`).join(' ');
  const plain = `${modules}.plain.PlainLoginModule required ${users};`;
  const broker = await startBroker({
    libs: await brokerLibs(),
    directory: join(root, 'broker'),
    ports,
    scram: ['SCRAM-SHA-256', 'SCRAM-SHA-512'].map(
      (mechanism) => `${mechanism}=[name=ana,password=${SECRETS.password}]`,
    ),
    settings: {
      listeners: `${listeners},CONTROLLER://127.0.0.1:${ports.controller}`,
      'advertised.listeners': listeners.replaceAll(
        /(TLS|MUTUAL|SASL|CLEAR):\/\/127\.0\.0\.1/g,
        '$1://localhost',
      ),
      'listener.security.protocol.map':
        'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,TLS:SSL,MUTUAL:SSL,SASL:SASL_SSL,CLEAR:SASL_PLAINTEXT',
      'inter.broker.listener.name': 'PLAINTEXT',
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.location': file('broker-store.pem'),
      'ssl.truststore.type': 'PEM',
      'ssl.truststore.location': file('authority.pem'),
      'listener.name.mutual.ssl.client.auth': 'required',
      'listener.name.sasl.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
      'listener.name.sasl.plain.sasl.jaas.config': plain,
      'listener.name.sasl.scram-sha-256.sasl.jaas.config': `${modules}.scram.ScramLoginModule required;`,
      'listener.name.sasl.scram-sha-512.sasl.jaas.config': `${modules}.scram.ScramLoginModule required;`,
      'listener.name.sasl.oauthbearer.sasl.jaas.config': `${modules}.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";`,
      'listener.name.sasl.oauthbearer.connections.max.reauth.ms': '12000',
      'listener.name.clear.sasl.enabled.mechanisms': 'PLAIN',
      'listener.name.clear.plain.sasl.jaas.config': plain,
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS;User:ana;User:CN=client,O=Stemma;User:CN=renewed,O=Stemma',
    },
  });
  const host = (port: number): string => `localhost:${port}`;
  return {
    broker,
    folder: root,
    file,
    at: { plain: broker.address, tls: host(tls), mutual: host(mutual), sasl: host(sasl), clear: host(clear) },
    [Symbol.asyncDispose]: async () => {
      await broker.stop('SIGKILL');
      rmSync(root, { recursive: true, force: true });
    },
  };
};
