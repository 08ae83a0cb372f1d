import { Readable, Writable } from 'node:stream';
import type { Surroundings } from '../surroundings.ts';

/** Runs a command line of this program and gives its exit code. */
export type RunWords = (words: readonly string[], around: Surroundings) => Promise<number>;

/** What a command is given of the process. */
export type ToolSurroundings = Pick<Surroundings, 'env' | 'signal' | 'openHome'>;

/** What a command printed, and whether it failed: then `text` is why. */
export type ToolAnswer = { readonly text: string; readonly failed: boolean };

/** Runs a command for a client; it reads no stdin. */
export const runTool = async (
  run: RunWords,
  words: readonly string[],
  around: ToolSurroundings,
): Promise<ToolAnswer> => {
  const [stdout, stderr] = [collector(), collector()];
  const code = await run(words, {
    ...around,
    stdin: Readable.from([]),
    stdout: stdout.stream,
    stderr: stderr.stream,
  });
  // A search that finds nothing ends with 1, and has printed so.
  const failed = code !== 0 && stdout.text() === '';
  return { text: failed ? stderr.text() : stdout.text(), failed };
};

const collector = (): { readonly stream: Writable; readonly text: () => string } => {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString() };
};
