export { damagedContent, missingContent, refuseTooLarge, verifiedContent } from './checks.ts';
export { MAX_CONTENT_BYTES, type ContentStore } from './port.ts';
export { openDirectoryContents } from './directory-contents.ts';
export { openMemoryContents, type MemoryContents } from './memory-contents.ts';
export { verifyContents, type ContentProblem } from './verify-contents.ts';
