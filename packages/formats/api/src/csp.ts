import { config } from 'zod';

// zod compiles its parsers with `new Function`, and probes for it when the first schema is made. The inspector's
// Content-Security-Policy forbids that, and each probe would stand in the console as a violation. So: not in a page.
// This file is imported before any schema is made.
if ('document' in globalThis) config({ jitless: true });
