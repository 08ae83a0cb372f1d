import { seeded } from '../src/contract/faults.ts';
import { NO_CONTENTS, openNoteRows, type Note } from '../src/contract/note-domain.ts';
import { openWriter, type EventLog, type Writer, type WriterOptions } from '../src/index.ts';

/** A writer of notes whose rows have read the log up to now, and no further. */
export const noteWriter = async (
  log: EventLog,
  options: Partial<WriterOptions<Note>> = {},
): Promise<Writer<Note>> => {
  const rows = openNoteRows(log);
  await rows.catchUp();
  return openWriter(log, {
    domain: rows.domain,
    contents: NO_CONTENTS,
    random: seeded(1),
    now: () => performance.now(),
    sleep: () => new Promise((resolve) => setImmediate(resolve)),
    tries: 100,
    ...options,
  });
};
