export { openKeyring } from './keyring.ts';
export { loadRedaction } from './load-redaction.ts';
