import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EQUIVALENT } from './equivalent/all.ts';
import type { JobMutant } from './job.ts';
import { progressOf, readJournal, writeJournal } from './journal.ts';
import { HELP, parseOptions } from './options.ts';
import { planMutants, testsOf } from './plan.ts';
import { reportOf, resultOf } from './report.ts';
import { openRun } from './run.ts';

const options = parseOptions(process.argv.slice(2));
if (options.help) {
  process.stdout.write(HELP);
  process.exit();
}

const out = resolve(options.out);
const [journal, kept] = [join(out, 'journal.jsonl'), join(out, 'mutants.json')];
mkdirSync(out, { recursive: true });
if (options.fresh) for (const file of [journal, kept]) rmSync(file, { force: true });
if (options.again)
  writeJournal(
    journal,
    readJournal(journal).filter(({ what }) => what === 'noticed'),
  );

const known = existsSync(kept) ? (JSON.parse(readFileSync(kept, 'utf8')) as readonly JobMutant[]) : undefined;
const mutants = known ?? planMutants(options);
writeFileSync(kept, JSON.stringify(mutants));
// A journal counts on the mutants that it began with, so their texts must still be there.
for (const { file, from, to, original } of mutants)
  if (readFileSync(file, 'utf8').slice(from, to) !== original)
    throw new Error(`${file} is not as it was when the mutants were chosen: begin anew with --fresh`);

const report = (): string => {
  const result = resultOf(mutants, progressOf(readJournal(journal)), EQUIVALENT);
  const { seed, count } = options;
  writeFileSync(join(out, 'result.json'), `${JSON.stringify({ seed, count, ...result }, null, 2)}\n`);
  const text = reportOf(result);
  writeFileSync(join(out, 'result.md'), text);
  return text;
};

const run = openRun({ out, journal, seed: options.seed, verbose: options.verbose, mutants, report });
process.stdout.write(`${mutants.length} mutants of ${options.packages.length} packages\n`);
for (const tier of options.tiers) await run.tier(testsOf(tier));
process.stdout.write(report());
