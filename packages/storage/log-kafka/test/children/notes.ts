import { writeSync } from 'node:fs';
import { isStemmaError } from '@stemma/errors';
import { openWriter } from '@stemma/log';
import { NO_CONTENTS, noteIntent, openNoteRows } from '@stemma/log/contract';
import { openKafkaLog, type KafkaLog } from '../../src/index.ts';

/*
 * A process that writes notes to a log on Kafka until it has written enough or its standard input ends, and says of each
 * on its standard output: history, note, seq, or `unknown`. What is unknown is sent again under the same id.
 * Arguments: brokers, prefix, its own name, how many notes.
 */
const [brokers = '', prefix = '', name = '', count = '1000000'] = process.argv.slice(2);
const stop = new AbortController();
const going = (): boolean => !stop.signal.aborted;
process.stdin.on('end', () => stop.abort()).resume();
// The deadline is short so that outcomes become unknown; a slow machine may need it twice to open.
const opened = async (): Promise<KafkaLog> => {
  for (;;)
    try {
      return await openKafkaLog({ brokers: brokers.split(','), prefix, create: false, deadline: 3000 });
    } catch (error) {
      if (!isStemmaError(error, 'E_BROKERS_UNREACHABLE') || !going()) throw error;
    }
};
try {
  const log = await opened();
  const rows = openNoteRows(log);
  await rows.catchUp();
  const writer = openWriter(log, {
    domain: rows.domain,
    contents: NO_CONTENTS,
    random: Math.random,
    now: () => performance.now(),
    sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    tries: 10_000,
    deadline: 5000,
  });
  const write = async (history: string, note: string): Promise<string> => {
    for (;;)
      try {
        const { seq } = await writer.write(noteIntent(history, note, note));
        return `${history} ${note} ${seq}\n`;
      } catch (error) {
        const again = isStemmaError(error) && error.row.retriable;
        if (!again) return `${history} ${note} unknown ${String(error)}\n`;
      }
  };
  for (let i = 0; i < Number(count) && going(); i += 4) {
    const lines = await Promise.all(
      ['hshared', `h${name}`, 'hshared', `h${name}`].map((history, k) => write(history, `${name}-${i + k}`)),
    );
    writeSync(1, lines.join(''));
  }
  await log.close();
} catch (error) {
  writeSync(2, `${String(error)}\n`);
  process.exitCode = 1;
}
process.exit();
