import { isStemmaError } from '@stemma/errors';
import { fileURLToPath } from 'node:url';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { KAFKA_SETTINGS, readKafkaSecurity } from '../src/index.ts';
import { readToken } from '../src/security/token.ts';

const SECRET = 'canary-secret-5Jd1';

const faultsOf = (environment: Record<string, string>): unknown => {
  try {
    readKafkaSecurity(environment);
    return {};
  } catch (error) {
    if (!isStemmaError(error)) throw error;
    expect([error.code, error.row.exit]).toEqual(['E_CONFIG_INVALID', 64]);
    expect(JSON.stringify([error.message, error.detail])).not.toContain(SECRET);
    return error.detail;
  }
};

it('without settings connections are neither encrypted nor of anybody', () => {
  expect(readKafkaSecurity({ STEMMA_LOG: 'kafka://a:1/p', STEMMA_KAFKA_KILLS: '3' })).toMatchObject({
    tls: undefined,
    sasl: undefined,
  });
});

it('all faults are named at once, a misspelt name with the nearest one', () => {
  expect(
    faultsOf({
      STEMMA_KAFKA_SECURITY_PROTOCOL: 'SASL_SSL',
      STEMMA_KAFKA_SASL_MECHANISM: 'SCRAM',
      STEMMA_KAFKA_CA_FIEL: '/a',
      STEMMA_KAFKA_CERT_FILE: '/nowhere/cert.pem',
      STEMMA_KAFKA_PASSWORD: SECRET,
      STEMMA_KAFKA_PASSWORD_FILE: '/nowhere/password',
    }),
  ).toEqual({
    STEMMA_KAFKA_CA_FIEL: 'is no setting; the nearest is STEMMA_KAFKA_CA_FILE',
    STEMMA_KAFKA_SASL_MECHANISM: 'must be `PLAIN`, `SCRAM-SHA-256`, `SCRAM-SHA-512` or `OAUTHBEARER`',
    STEMMA_KAFKA_PASSWORD: 'stands beside STEMMA_KAFKA_PASSWORD_FILE: set one',
    STEMMA_KAFKA_KEY_FILE: 'is missing: a certificate and its key go together',
    STEMMA_KAFKA_CERT_FILE: 'names the file /nowhere/cert.pem, which cannot be read',
  });
});

it('a password without SASL and a CA without TLS are refused: they would have no effect', () => {
  expect(faultsOf({ STEMMA_KAFKA_PASSWORD: SECRET, STEMMA_KAFKA_CA_FILE: import.meta.filename })).toEqual({
    STEMMA_KAFKA_PASSWORD: 'needs STEMMA_KAFKA_SECURITY_PROTOCOL=SASL_SSL or SASL_PLAINTEXT',
    STEMMA_KAFKA_CA_FILE: 'needs STEMMA_KAFKA_SECURITY_PROTOCOL=SSL or SASL_SSL',
  });
});

it('a file that holds no certificate is refused', () => {
  expect(
    faultsOf({ STEMMA_KAFKA_SECURITY_PROTOCOL: 'SSL', STEMMA_KAFKA_CA_FILE: import.meta.filename }),
  ).toEqual({
    STEMMA_KAFKA_CA_FILE: 'names a file without a certificate in PEM',
  });
});

it.each([
  ['tok\n', 'tok', undefined],
  ['{"token":"tok","expires":1800000000}', 'tok', 1_800_000_000_000],
  ['{"token":"tok","expires":"1800000000000"}', 'tok', 1_800_000_000_000],
  ['{"token":"tok","expires":"2027-01-15T08:00:00Z"}', 'tok', 1_800_000_000_000],
  ['a.eyJleHAiOjE4MDAwMDAwMDB9.b', 'a.eyJleHAiOjE4MDAwMDAwMDB9.b', 1_800_000_000_000],
])('what a token command prints is read: %s', (output, token, expires) => {
  expect(readToken(output)).toEqual({ token, expires });
});

it.each(['', 'two words', '{"token":""}', '{"tok', '{}'])(
  'a token command that prints %j gives no token',
  (output) => {
    expect(() => readToken(output)).toThrow('STEMMA_KAFKA_TOKEN_COMMAND');
  },
);

it('docs/running.md has a row for each setting, with its meaning and default', () => {
  const page = readFileSync(fileURLToPath(new URL('../../../../docs/running.md', import.meta.url)), 'utf8');
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| `STEMMA_KAFKA_'))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  expect(rows.map(([, ...cells]) => cells.slice(0, 3))).toEqual(
    KAFKA_SETTINGS.map(({ name, meaning, default: without }) => [`\`${name}\``, meaning, without]),
  );
});
