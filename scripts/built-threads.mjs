/*
 * Threads and processes that the sources start run the built files, as users' programs do: their sources take three
 * times as long to load, and tests start hundreds of them. Loaded by Node.js before a test file, where the programs are
 * built (STEMMA_TEST_BUILT).
 */
import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';

const dist = new URL('../services/cli/dist/', import.meta.url);
const STARTED =
  /\/(append-worker|fold-worker|run-thread|home-thread|analysis-thread|question-process|forwarder-process)\.ts$/;

registerHooks({
  resolve(specifier, context, next) {
    const name = context.parentURL === undefined ? STARTED.exec(specifier)?.[1] : undefined;
    const built = name === undefined ? undefined : new URL(`${name}.js`, dist);
    return next(built !== undefined && existsSync(built) ? built.href : specifier, context);
  },
});
