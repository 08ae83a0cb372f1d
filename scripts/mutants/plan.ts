import { readFileSync } from 'node:fs';
import { foundFiles } from '../found-files.ts';
import { folderOf, rooms } from '../layers.ts';
import { runsAtLoad } from './at-load.ts';
import { chooseMutants } from './choose.ts';
import { findMutants } from './find-mutants.ts';
import type { JobMutant } from './job.ts';
import type { Options } from './options.ts';

/** Packages that are judged by their own tests alone. */
const OWN_TESTS: readonly string[] = ['context-tree'];

/** Tests of a page, and long ones of what runs in other processes, where no mutant is. */
const NOT_RUN: readonly string[] = [
  'services/inspector/',
  'packages/storage/log-kafka/',
  'cli/test/kafka.int',
  'cli/test/bad-input.int',
  'home/test/resumed.int',
];

const byName = (a: string, b: string): number => (a < b ? -1 : 1);

const sourcesOf = (name: string): readonly string[] =>
  foundFiles(process.cwd(), [`${folderOf(name)}/src/**/*.ts`]).filter(
    (file) => !/\.test\.ts$|\/contract(\.ts|\/)/.test(file),
  );

/** The mutants of a run, chosen from the sources as they are now. */
export const planMutants = ({ packages, ...choice }: Options): readonly JobMutant[] => {
  const texts = new Map<string, string>();
  const all = new Map(
    packages.map((name) => [
      name,
      sourcesOf(name).flatMap((file) => {
        texts.set(file, readFileSync(file, 'utf8'));
        return findMutants(file, texts.get(file) ?? '');
      }),
    ]),
  );
  return chooseMutants(all, choice).map((mutant, i) => {
    const [, , name = ''] = mutant.file.split('/');
    return {
      ...mutant,
      number: i + 1,
      isStatic: runsAtLoad(texts.get(mutant.file) ?? '', mutant.from),
      only: OWN_TESTS.includes(name) ? `${folderOf(name)}/` : null,
    };
  });
};

/** The test files of a tier; those of lower rooms first, so that most mutants meet their own tests first. */
export const testsOf = (tier: string): readonly string[] => {
  const storey = (file: string): number => {
    const position = rooms.findIndex((room) => file.startsWith(`packages/${room}/`));
    return position === -1 ? rooms.length : position;
  };
  return foundFiles(process.cwd(), [`{packages/*,services}/*/{src,test}/**/*.${tier}.test.ts`])
    .filter((file) => !NOT_RUN.some((part) => file.includes(part)))
    .sort((a, b) => storey(a) - storey(b) || byName(a, b));
};
