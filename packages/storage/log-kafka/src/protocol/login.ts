import { fail } from '@stemma/errors';
import oauthBearer from 'kafkajs/src/broker/saslAuthenticator/oauthBearer.js';
import plain from 'kafkajs/src/broker/saslAuthenticator/plain.js';
import scram256 from 'kafkajs/src/broker/saslAuthenticator/scram256.js';
import scram512 from 'kafkajs/src/broker/saslAuthenticator/scram512.js';
import type { KafkaSasl } from '../security/settings.ts';
import { openTokenSource, type TokenSource } from '../security/token.ts';
import { typeOf } from './kafka-errors.ts';

/** What kafkajs gives to whoever logs a connection in. */
type LoginRequest = { readonly saslAuthenticate: (request: object) => Promise<unknown> };
type Provider = (request: LoginRequest) => { authenticate(): Promise<void> };

/** How kafkajs logs connections in: with secrets that are read at each login. */
export type Login = { readonly mechanism: string; readonly authenticationProvider: Provider };

const BY_PASSWORD = { PLAIN: plain, 'SCRAM-SHA-256': scram256, 'SCRAM-SHA-512': scram512 } as const;

/** One source for each command: all connections of a process share its tokens. */
const sources = new Map<string, TokenSource>();

export const loginOf = (sasl: KafkaSasl): Login => ({
  mechanism: sasl.mechanism,
  authenticationProvider: (request) => ({ authenticate: () => logIn(sasl, request) }),
});

const logIn = async (sasl: KafkaSasl, request: LoginRequest): Promise<void> => {
  const source = sasl.mechanism === 'OAUTHBEARER' ? sourceOf(sasl.command()) : undefined;
  let answer: Error | undefined;
  const saslAuthenticate = async (asked: object): Promise<unknown> => {
    try {
      return await request.saslAuthenticate(
        source === undefined ? asked : { ...asked, response: tokenAnswer },
      );
    } catch (error) {
      answer = error instanceof Error ? error : new Error(String(error));
      throw error;
    }
  };
  const token = await source?.token();
  const provider: Provider =
    sasl.mechanism === 'OAUTHBEARER'
      ? oauthBearer({ oauthBearerProvider: async () => ({ value: token }) })
      : BY_PASSWORD[sasl.mechanism]({ username: sasl.username, password: sasl.password() });
  try {
    await provider({ ...request, saslAuthenticate }).authenticate();
  } catch (error) {
    source?.forget();
    // A connection that broke says nothing about the password.
    if (answer !== undefined && typeOf(answer) !== 'SASL_AUTHENTICATION_FAILED') throw answer;
    throw refusedLogin(sasl, error);
  }
};

/** Brokers refuse a token with a text in an answer that is no error, and kafkajs 2.2.4 does not look at it. */
const tokenAnswer = {
  decode: async (bytes: Buffer | null): Promise<Buffer | null> => bytes,
  parse: async (bytes: Buffer | null): Promise<void> => {
    if (bytes?.includes('"status"') === true)
      throw Object.assign(new Error('the token is refused'), { type: 'SASL_AUTHENTICATION_FAILED' });
  },
};

const sourceOf = (command: string): TokenSource => {
  const source = sources.get(command) ?? openTokenSource(command);
  sources.set(command, source);
  return source;
};

/** What brokers say of a refused login may quote it: it is left out. */
const refusedLogin = (sasl: KafkaSasl, cause: unknown): Error => {
  const text = cause instanceof Error ? cause.message : '';
  if (text.includes('server signature'))
    return fail(
      'E_BROKERS_LOGIN',
      'the broker does not know the password either: it is not the broker it says it is',
    );
  return fail(
    'E_BROKERS_LOGIN',
    sasl.mechanism === 'OAUTHBEARER'
      ? 'the brokers refuse the token that STEMMA_KAFKA_TOKEN_COMMAND printed'
      : `the brokers refuse the user ${sasl.username} with ${sasl.mechanism}: the password, the user or the mechanism is wrong`,
    { mechanism: sasl.mechanism },
  );
};
