import { fail } from '@stemma/errors';

/** Errors of brokers that stay the same when a request is repeated. */
const FINAL: readonly string[] = [
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'TOPIC_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'SASL_AUTHENTICATION_FAILED',
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

export const isFinal = (error: unknown): boolean => FINAL.includes(typeOf(error));

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** @param unwritten true if the request cannot have had any effect */
export const refused = (error: unknown, unwritten: boolean): Error => {
  const type = typeOf(error);
  const detail = { type, ...(unwritten && { written: false }) };
  if (type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE')
    return fail(
      'E_FRAME_TOO_LARGE',
      'the topic does not take messages of this size: raise max.message.bytes',
      detail,
    );
  return fail('E_BROKERS_REFUSED', `the brokers refuse the request: ${messageOf(error)}`, detail);
};

export const unreachable = (brokers: readonly string[], error: unknown): Error =>
  fail('E_BROKERS_UNREACHABLE', `no answer from the brokers at ${brokers.join(', ')}: ${messageOf(error)}`, {
    brokers: brokers.join(','),
  });
