import { expect, it } from 'vitest';
import { openHomeLog } from '../src/open-log.ts';

it.each(['postgres:/ana:hunter2@host/db', '/srv/kafka:/ana:hunter2@host:9092/p', 'http://ana:hunter2@host'])(
  'no directory is made whose name is an address: %s',
  async (directory) => {
    const opening = openHomeLog({ directory, create: true });
    await expect(opening).rejects.toMatchObject({ code: 'E_USAGE' });
    await expect(opening).rejects.not.toThrow('hunter2');
  },
);
