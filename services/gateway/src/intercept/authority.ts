import type * as X509 from '@peculiar/x509';
import { createHash, createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

/** A key and the certificate that goes with it, as PEM. */
type HostCertificate = { readonly key: string; readonly cert: string };

/** What a certificate authority is: it says of servers that they are whom they say, to programs that trust its certificate. */
export type AuthorityKeys = {
  /** What a program has to trust: PEM. */
  readonly certificate: string;
  /** Its private key: PEM. It is in memory alone. */
  readonly key: string;
};

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Milliseconds before now from which a certificate holds: clocks of containers differ. */
const BEFORE = 24 * 60 * 60 * 1000;

/** Milliseconds for which it holds: no run takes longer, and it is worth nothing after it. */
const AFTER = 30 * 24 * 60 * 60 * 1000;

const load = async (): Promise<typeof X509> => {
  // The library finds its own parts by this.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(crypto);
  return x509;
};

const makeKeys = () => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);

const times = (): { readonly notBefore: Date; readonly notAfter: Date } => ({
  notBefore: new Date(Date.now() - BEFORE),
  notAfter: new Date(Date.now() + AFTER),
});

const privateKeyOf = async (key: Awaited<ReturnType<typeof makeKeys>>['privateKey']): Promise<string> =>
  pemOf('PRIVATE KEY', Buffer.from(await crypto.subtle.exportKey('pkcs8', key)));

/** Makes a certificate authority for one run. It is installed nowhere. */
export const makeAuthority = async (): Promise<AuthorityKeys> => {
  const x509 = await load();
  const keys = await makeKeys();
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...times(),
    serialNumber: serialNumber(),
    name: `CN=Stemma recording ${serialNumber().slice(0, 8)}, O=Stemma`,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  const certificate = new X509Certificate(root.toString('pem')).toString();
  return { certificate, key: await privateKeyOf(keys.privateKey) };
};

/** Certificates of hosts. @returns by the name of a host, or its address without brackets */
export const openAuthority = async ({
  certificate,
  key,
}: AuthorityKeys): Promise<(host: string) => Promise<HostCertificate>> => {
  const x509 = await load();
  const root = new x509.X509Certificate(certificate);
  const pkcs8 = createPrivateKey(key).export({ type: 'pkcs8', format: 'der' });
  const signingKey = await crypto.subtle.importKey('pkcs8', new Uint8Array(pkcs8), ALGORITHM, false, [
    'sign',
  ]);
  const issue = async (host: string): Promise<HostCertificate> => {
    const own = await makeKeys();
    const issued = await x509.X509CertificateGenerator.create({
      ...times(),
      serialNumber: serialNumber(),
      subject: `CN=${commonName(host)}`,
      issuer: root.subject,
      publicKey: own.publicKey,
      signingKey,
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension([{ type: isIP(host) === 0 ? 'dns' : 'ip', value: host }]),
        await x509.AuthorityKeyIdentifierExtension.create(root.publicKey),
        await x509.SubjectKeyIdentifierExtension.create(own.publicKey),
      ],
    });
    return { key: await privateKeyOf(own.privateKey), cert: issued.toString('pem') };
  };
  const known = new Map<string, Promise<HostCertificate>>();
  return (host) => {
    const certified = known.get(host) ?? issue(host);
    known.set(host, certified);
    return certified;
  };
};

/** A positive number of 16 bytes, in hex. */
const serialNumber = (): string => {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x01;
  return bytes.toString('hex');
};

/** A common name has 64 characters at most, and says nothing that the alternative name does not. */
const commonName = (host: string): string =>
  /^[\w.-]{1,64}$/.test(host) ? host : createHash('sha256').update(host).digest('hex').slice(0, 32);

const pemOf = (what: string, bytes: Buffer): string =>
  `-----BEGIN ${what}-----\n${bytes.toString('base64').replace(/.{64}/g, '$&\n').trimEnd()}\n-----END ${what}-----\n`;
