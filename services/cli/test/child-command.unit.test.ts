import { expect, test } from 'vitest';
import { childEnv } from '../src/child-command.ts';

test('a command that is recorded does not get what Stemma logs in to its log with', () => {
  const env = {
    STEMMA_KAFKA_PASSWORD: 'canary-password',
    STEMMA_KAFKA_KEY_PASSPHRASE: 'canary-passphrase',
    STEMMA_KAFKA_PASSWORD_FILE: '/run/secrets/kafka',
    STEMMA_HOME: '/home',
  };
  const child = childEnv(env, 'http://127.0.0.1:1/place');
  expect(JSON.stringify(child)).not.toContain('canary');
  expect(child).toMatchObject({ STEMMA_KAFKA_PASSWORD_FILE: '/run/secrets/kafka', STEMMA_HOME: '/home' });
});
