import type { ErrorCode } from '@stemma/errors';
import { defined } from '@stemma/values';
import { connect, isIP, type Socket } from 'node:net';
import { checkServerIdentity, connect as connectTls } from 'node:tls';
import type { KafkaSecurity, KafkaTls } from '../security/settings.ts';

type Place = { readonly host: string; readonly port: number };

/** Milliseconds within which a listener of another kind closes a connection. */
const AT_ONCE = 1_000;

/**
 * Opens the socket of a connection, with TLS if the settings say so; files are read anew. Certificates are always checked.
 * What its errors say is what kafkajs keeps of them: a message, and as its code one of ours where the settings are wrong.
 */
export const openSocket = ({ tls, sasl }: KafkaSecurity, place: Place, onConnect: () => void): Socket => {
  const began = performance.now();
  const socket = tls === undefined ? connect(place, onConnect) : openTls(tls, place, onConnect);
  socket.setNoDelay(true);
  socket.setKeepAlive(true);
  const at = `${place.host}:${place.port}`;
  socket.on('error', (error: NodeJS.ErrnoException) => {
    const [code, sentence] = tls === undefined ? [] : tlsFault(error, at, tls.serverName ?? place.host);
    if (sentence === undefined) return;
    error.message = sentence;
    error.code = code ?? error.code ?? '';
  });
  if (tls !== undefined) return socket;
  socket.once('data', (data: Buffer) => {
    // An alert, in the records of TLS: as the size of an answer it would be 352 MB.
    if (data[0] === 0x15 && data[1] === 3)
      socket.destroy(
        Object.assign(new Error(speaksTls(at)), { code: 'E_BROKERS_PROTOCOL' satisfies ErrorCode }),
      );
  });
  socket.once('end', () => {
    if (performance.now() - began > AT_ONCE) return;
    if (socket.bytesRead === 0)
      socket.emit(
        'error',
        new Error(
          `${at} closed the connection at once, as a listener with TLS does: STEMMA_KAFKA_SECURITY_PROTOCOL is ${sasl === undefined ? 'PLAINTEXT' : 'SASL_PLAINTEXT'}`,
        ),
      );
    else if (sasl === undefined)
      socket.emit(
        'error',
        new Error(
          `${at} closed the connection at once, as a listener with SASL does: STEMMA_KAFKA_SECURITY_PROTOCOL is PLAINTEXT`,
        ),
      );
  });
  return socket;
};

const openTls = (tls: KafkaTls, { host, port }: Place, onConnect: () => void): Socket => {
  const name = tls.serverName ?? host;
  return connectTls(
    {
      host,
      port,
      ...defined({ ca: tls.ca(), cert: tls.cert(), key: tls.key(), passphrase: tls.passphrase() }),
      ...(isIP(name) === 0 && { servername: name }),
      checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
      // Said, so that NODE_TLS_REJECT_UNAUTHORIZED does not switch it off.
      rejectUnauthorized: true,
      minVersion: 'TLSv1.2',
    },
    onConnect,
  );
};

const speaksTls = (at: string): string =>
  `${at} speaks TLS: set STEMMA_KAFKA_SECURITY_PROTOCOL to SSL or SASL_SSL, or name its port without TLS`;

/** Authorities that are not known, as OpenSSL names it. */
const UNKNOWN =
  /^(?:UNABLE_TO_(?:VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(?:_LOCALLY)?)|SELF_SIGNED_CERT_IN_\w+|DEPTH_ZERO_SELF_SIGNED_CERT|CERT_SIGNATURE_FAILURE)$/;

/** What an error of TLS means, in words with what to change; no code where the settings may be right. */
const tlsFault = (
  { code = '' }: NodeJS.ErrnoException,
  at: string,
  name: string,
): readonly [code?: ErrorCode | undefined, sentence?: string] => {
  if (UNKNOWN.test(code))
    return [
      'E_BROKERS_UNTRUSTED',
      `the certificate of ${at} is signed by an authority that is not trusted (${code}): STEMMA_KAFKA_CA_FILE must name a file with that authority's certificate`,
    ];
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return [
      'E_BROKERS_UNTRUSTED',
      `the certificate of ${at} is not for ${name}: name the broker as its certificate does, or set STEMMA_KAFKA_SERVER_NAME to a name in it`,
    ];
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID')
    return [
      'E_BROKERS_UNTRUSTED',
      `the certificate of ${at} is not valid now (${code}): the brokers need a new one`,
    ];
  if (/ALERT/.test(code))
    return [
      'E_BROKERS_LOGIN',
      `${at} refuses the client in TLS (${code}): STEMMA_KAFKA_CERT_FILE and STEMMA_KAFKA_KEY_FILE must name a certificate that it accepts`,
    ];
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH/.test(code))
    return [
      'E_BROKERS_PROTOCOL',
      `${at} does not speak TLS: set STEMMA_KAFKA_SECURITY_PROTOCOL to PLAINTEXT or SASL_PLAINTEXT, or name its port with TLS`,
    ];
  if (code === 'ECONNRESET')
    return [
      undefined,
      `${at} closed the connection before TLS was set up, as a listener without TLS does: STEMMA_KAFKA_SECURITY_PROTOCOL is SSL or SASL_SSL`,
    ];
  return [];
};
