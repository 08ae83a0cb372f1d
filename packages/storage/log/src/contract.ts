export { describeEventLog, type EventLogHarness } from './contract/describe-event-log.ts';
export { faultyLog, seeded, withoutVouching, type Faults } from './contract/faults.ts';
export { NO_CONTENTS, noteIntent, openNoteRows, type Note, type NoteRows } from './contract/note-domain.ts';
