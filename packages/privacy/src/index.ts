export { openKeyring, type Keyring } from './keyring.ts';
export { loadRedaction } from './load-redaction.ts';
