import { join } from 'node:path';

const SERVICES = join(import.meta.dirname, '../../../../services');
const SOURCES = {
  stemma: 'cli',
  gateway: 'gateway',
  projector: 'projector',
  relay: 'relay',
  runner: 'runner',
} as const;

/**
 * The file that node runs for a program: the built one if STEMMA_TEST_BUILT says that it is current, as `npm test` does,
 * else the sources.
 */
export const programFile = (name: keyof typeof SOURCES): string =>
  process.env['STEMMA_TEST_BUILT'] === '1'
    ? join(SERVICES, 'cli/dist', `${name}.js`)
    : join(SERVICES, SOURCES[name], 'src/main.ts');
