import { fail } from '@stemma/errors';
import { expect, test } from 'vitest';
import { sendWithRetry } from './send-with-retry.ts';

test(
  'a command with an unknown outcome is sent again a few times; a refused command is not',
  { tags: ['record§3:outcome'] },
  async () => {
    let sent = 0;
    const failing = (code: 'E_IO' | 'E_OUTCOME_UNKNOWN' | 'E_CONFLICT', times: number) => () => {
      sent += 1;
      return sent > times ? Promise.resolve('done') : Promise.reject(fail(code, 'no answer'));
    };
    expect([await sendWithRetry(failing('E_IO', 2)), sent]).toEqual(['done', 3]);
    sent = 0;
    await expect(sendWithRetry(failing('E_OUTCOME_UNKNOWN', 9))).rejects.toMatchObject({
      code: 'E_OUTCOME_UNKNOWN',
    });
    expect(sent).toBe(4);
    sent = 0;
    await expect(sendWithRetry(failing('E_CONFLICT', 9))).rejects.toMatchObject({ code: 'E_CONFLICT' });
    expect(sent).toBe(1);
  },
);
