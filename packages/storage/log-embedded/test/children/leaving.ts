import { openEmbeddedLog } from '../../src/index.ts';

/* `leaving.ts DIRECTORY APPENDS`: ends after so many appends, without closing its log, while others are on their way. */
const [, , directory = '', appends = '1'] = process.argv;
const log = await openEmbeddedLog({ directory });
let done = 0;
const keepAppending = async (): Promise<void> => {
  for (;;) {
    await log.append(0, [{ key: 'k', bytes: Buffer.alloc(2_000, 1) }]);
    if (++done === Number(appends)) process.exit(7);
  }
};
await Promise.all([keepAppending(), keepAppending(), keepAppending()]);
