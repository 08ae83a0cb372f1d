import { readRegularFile } from '@stemma/machine';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';

/** An environment. */
type Env = Readonly<Record<string, string | undefined>>;

/** The variables that programs read a file of trusted certificates from. */
export const BUNDLE_VARIABLES = [
  'SSL_CERT_FILE',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'AWS_CA_BUNDLE',
  'GIT_SSL_CAINFO',
] as const;

/** The variables that programs read certificates from which they trust besides those of their own. */
export const EXTRA_VARIABLES = ['NODE_EXTRA_CA_CERTS', 'DENO_CERT'] as const;

/** What the machine trusts, and what the environment names besides: PEM, each once. */
export const trustedRoots = (env: Env): readonly string[] => {
  const named = [...BUNDLE_VARIABLES, ...EXTRA_VARIABLES].flatMap((name) => certificatesIn(env[name]));
  const system = getCACertificates('system');
  return [...new Set([...(system.length > 0 ? system : getCACertificates('bundled')), ...named])];
};

/** The certificates of a file; of one that cannot be read none: who reads it says so. */
export const certificatesIn = (file: string | undefined): readonly string[] => {
  if (file === undefined || file === '') return [];
  try {
    return (
      readRegularFile(file)
        .toString()
        .match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
    );
  } catch {
    return [];
  }
};

let known: SecureContext | undefined;

/** What upstreams are trusted by: whatever Node.js trusts, and what a client of this environment does. It takes a while to make. */
export const upstreamTrust = (): SecureContext =>
  (known ??= createSecureContext({
    ca: [...new Set([...getCACertificates('default'), ...trustedRoots(process.env)])],
  }));
