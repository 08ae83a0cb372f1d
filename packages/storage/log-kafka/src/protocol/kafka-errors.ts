import { ERRORS, fail, isStemmaError, type ErrorCode, type StemmaError } from '@stemma/errors';
import type { KafkaSecurity } from '../security/settings.ts';

/** Errors of brokers that stay the same when a request is repeated. */
const FINAL: readonly string[] = [
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
  'UNSUPPORTED_SASL_MECHANISM',
  'ILLEGAL_SASL_STATE',
  'GROUP_AUTHORIZATION_FAILED',
  'INVALID_TOPIC_EXCEPTION',
  'UNSUPPORTED_VERSION',
  'INVALID_RECORD',
  'POLICY_VIOLATION',
  'INVALID_REPLICATION_FACTOR',
];

/** The type of a broker's error, as Kafka's protocol guide names it; empty for other errors. */
export const typeOf = (error: unknown): string => {
  const { type, cause } = (error ?? {}) as { type?: unknown; cause?: unknown };
  if (typeof type === 'string') return type;
  return cause === undefined || cause === error ? '' : typeOf(cause);
};

const isFinal = (error: unknown): boolean => FINAL.includes(typeOf(error));

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What a request needs a right to. */
type Resource = { readonly topic: string; readonly security: KafkaSecurity };

/** What the promise gives. @throws E_BROKERS_DENIED that names the right, if the brokers withhold it */
export const needing = async <T>(right: string, resource: Resource, asked: Promise<T>): Promise<T> => {
  try {
    return await asked;
  } catch (error) {
    throw denied(right, resource, error) ?? error;
  }
};

const denied = (right: string, { topic, security }: Resource, error: unknown): Error | undefined => {
  const [, kind] = /^(TOPIC|CLUSTER|GROUP|TRANSACTIONAL_ID)_AUTHORIZATION_FAILED$/.exec(typeOf(error)) ?? [];
  if (kind === undefined) return undefined;
  const principal = security.principal() ?? 'of the token';
  const what = kind === 'TOPIC' ? `topic ${topic}` : kind.toLowerCase().replace('_', ' ');
  return fail('E_BROKERS_DENIED', `the principal ${principal} lacks the right ${right} on ${what}`, {
    right,
    resource: what,
    principal,
    type: typeOf(error),
  });
};

/**
 * Throws what stays the same when a request is repeated.
 *
 * @param unwritten true if the request cannot have had any effect
 * @throws E_BROKERS_REFUSED, E_BROKERS_DENIED, E_BROKERS_LOGIN, E_BROKERS_UNTRUSTED, E_BROKERS_PROTOCOL,
 *   E_FRAME_TOO_LARGE, or the error itself if it is one of ours
 */
export const refuseFinal = (error: unknown, unwritten: boolean): void => {
  if (isStemmaError(error) && !error.code.startsWith('E_BROKERS_')) throw error;
  const own = ownErrorIn(error);
  if (own !== undefined)
    throw fail(own.code, own.message, { ...own.detail, ...(unwritten && { written: false }) });
  if (isFinal(error)) throw refused(error, unwritten);
};

/** Our own error inside of those of kafkajs, which keeps the message and the code of an error of a socket. */
const ownErrorIn = (error: unknown): StemmaError | undefined => {
  if (isStemmaError(error)) return error;
  if (!(error instanceof Error)) return undefined;
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === 'string' && code in ERRORS)
    return fail(code as ErrorCode, error.message.replace(/^Connection error: /, ''));
  return error.cause === error ? undefined : ownErrorIn(error.cause);
};

/** @param unwritten true if the request cannot have had any effect */
const refused = (error: unknown, unwritten: boolean): Error => {
  const type = typeOf(error);
  const detail = { type, ...(unwritten && { written: false }) };
  if (type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE')
    return fail(
      'E_FRAME_TOO_LARGE',
      'the topic does not take messages of this size: raise max.message.bytes',
      detail,
    );
  if (type === 'UNSUPPORTED_SASL_MECHANISM' || type === 'ILLEGAL_SASL_STATE')
    return fail(
      'E_BROKERS_PROTOCOL',
      `the listener of the brokers has no such login (${type}): STEMMA_KAFKA_SASL_MECHANISM and STEMMA_KAFKA_SECURITY_PROTOCOL must be those of the port`,
      detail,
    );
  return fail('E_BROKERS_REFUSED', `the brokers refuse the request: ${messageOf(error)}`, detail);
};

export const unreachable = (brokers: readonly string[], error: unknown): Error =>
  fail('E_BROKERS_UNREACHABLE', `no answer from the brokers at ${brokers.join(', ')}: ${messageOf(error)}`, {
    brokers: brokers.join(','),
  });
