export { openKeyring, type Keyring } from './keyring.ts';
export { loadRedaction } from './load-redaction.ts';
export { findGone, noteFile, notesOf, readNoted } from './noted-files.ts';
