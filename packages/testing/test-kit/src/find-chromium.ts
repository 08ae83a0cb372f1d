import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * The path of Chromium, for example `/usr/bin/chromium`, or undefined when none is installed. It looks at
 * `STEMMA_CHROMIUM`, then at Debian's path, then at the PATH. Without Chromium a browser test is skipped with {@link NO_CHROMIUM} as its reason.
 */
export function findChromium(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  const onPath = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const candidates = [
    environment['STEMMA_CHROMIUM'] ?? '',
    '/usr/bin/chromium',
    ...onPath.map((folder) => join(folder, 'chromium')),
  ];
  return candidates.find((candidate) => candidate !== '' && isExecutable(candidate));
}

/** The reason of a skipped browser test. */
export const NO_CHROMIUM = 'no Chromium here: install it or set STEMMA_CHROMIUM to its path';

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
