export { openKeyring, type Keyring } from './keyring.ts';
export { loadRedaction } from './load-redaction.ts';
export { findGone, noteFile, readNoted } from './noted-files.ts';
