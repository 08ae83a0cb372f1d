import { isStemmaError } from '@stemma/errors';
import { openHome } from '@stemma/home';
import { writeSync } from 'node:fs';

/*
 * A process that folds the log into rows until it is killed: it follows what others write, and every so often builds the
 * rows anew. Argument: the home.
 */
const [directory = ''] = process.argv.slice(2);
const home = await openHome({ directory, create: true });
for (let i = 1; ; i++)
  try {
    await home.read.histories();
    if (i % 20 === 0) await home.operations.replay({ verify: false });
    writeSync(1, 'projected\n');
  } catch (error) {
    if (!isStemmaError(error) || !error.row.retriable) throw error;
  }
