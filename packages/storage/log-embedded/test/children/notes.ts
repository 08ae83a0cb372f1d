import { writeSync } from 'node:fs';
import { openWriter } from '@stemma/log';
import { NO_CONTENTS, noteIntent, openNoteRows } from '@stemma/log/contract';
import { openEmbeddedLog } from '../../src/index.ts';

/*
 * A process that writes notes until it is killed or has written enough, and says on its standard output what was
 * acknowledged: history, seq, note. Arguments: directory, its own name, how many notes, how many of them at once.
 */
const [directory = '', name = '', count = '1000000', atOnce = '5'] = process.argv.slice(2);
try {
  const log = await openEmbeddedLog({ directory, segmentBytes: 256 * 1024, stepBytes: 64 * 1024 });
  const rows = openNoteRows(log);
  await rows.catchUp();
  const writer = openWriter(log, {
    domain: rows.domain,
    contents: NO_CONTENTS,
    random: Math.random,
    now: () => performance.now(),
    sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    tries: 10_000,
  });
  const histories = ['hshared', `h${name}`, `h${name}`, 'hshared', `h${name}`].slice(0, Number(atOnce));
  for (let i = 0; i < Number(count); i += histories.length) {
    const written = await Promise.all(
      histories.map((history, k) =>
        writer.write(noteIntent(history, `${name}-${i + k}`, `${name}-${i + k}`)),
      ),
    );
    writeSync(
      1,
      written.map(({ history, seq, frame }) => `${history} ${seq} ${frame?.body.command ?? ''}\n`).join(''),
    );
  }
  await writer.close();
  await log.close();
} catch (error) {
  writeSync(2, `${String(error)}\n`);
  process.exitCode = 1;
}
