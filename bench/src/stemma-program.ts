import { fileURLToPath } from 'node:url';

/** The file of the program `stemma`. */
export const STEMMA = fileURLToPath(new URL('../../services/cli/bin/stemma.mjs', import.meta.url));
