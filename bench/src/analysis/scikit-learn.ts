import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const SCIKIT_LEARN = '1.7.2';

/** Beside the scratch files of the benchmarks. */
const FOLDER = fileURLToPath(
  new URL(`../../node_modules/.cache/scikit-learn-${SCIKIT_LEARN}`, import.meta.url),
);
const SCRIPT = fileURLToPath(new URL('scikit_learn.py', import.meta.url));

export type Clustered = { readonly ms: number; readonly cpu: number; readonly labels: readonly number[] };

export type ScikitLearnInput = {
  readonly file: string;
  readonly minClusterSize: number;
  /** `brute` multiplies matrices; `auto` takes a k-d tree. */
  readonly algorithm: 'brute' | 'auto';
  /** Of the library that multiplies matrices. */
  readonly threads: number | 'all';
};

/** Installs scikit-learn where it is not. Gives why it cannot be. */
export const installScikitLearn = (): string | undefined => {
  const installed = join(FOLDER, 'installed');
  if (existsSync(installed)) return undefined;
  process.stderr.write(`bench: installing scikit-learn ${SCIKIT_LEARN} …\n`);
  try {
    execFileSync('python3', ['-m', 'venv', FOLDER], { stdio: 'ignore' });
    const pip = join(FOLDER, 'bin/pip');
    execFileSync(pip, ['install', '--quiet', `scikit-learn==${SCIKIT_LEARN}`], { stdio: 'ignore' });
    writeFileSync(installed, '');
    return undefined;
  } catch (error) {
    return `scikit-learn cannot be installed: ${String(error).split('\n')[0] ?? ''}`;
  }
};

export const clusterWithScikitLearn = ({
  file,
  minClusterSize,
  algorithm,
  threads,
}: ScikitLearnInput): Clustered => {
  const limit =
    threads === 'all' ? {} : { OPENBLAS_NUM_THREADS: `${threads}`, OMP_NUM_THREADS: `${threads}` };
  const answer = execFileSync(join(FOLDER, 'bin/python'), [SCRIPT, file, String(minClusterSize), algorithm], {
    encoding: 'utf8',
    env: { ...process.env, ...limit },
    maxBuffer: 1e8,
  });
  return JSON.parse(answer) as Clustered;
};
