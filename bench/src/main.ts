import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { analysis } from './analysis/analysis.ts';
import { append } from './append/append.ts';
import { audit } from './audit/audit.ts';
import { branches } from './branches/branches.ts';
import { calls } from './calls/calls.ts';
import { causes } from './causes/causes.ts';
import { checks } from './checks/checks.ts';
import { gateway } from './gateway/gateway.ts';
import { growth } from './growth/growth.ts';
import { importing } from './import/import.ts';
import { histories } from './histories/histories.ts';
import { kafka } from './kafka/kafka.ts';
import { machine } from './machine.ts';
import { parseOptions, type Name, type Options } from './options.ts';
import { installPeers } from './peers/install.ts';
import { takeFailedPeers } from './peers/probe-peer.ts';
import { takeMeasured } from './probe.ts';
import { page } from './page/page.ts';
import { proxy } from './proxy/proxy.ts';
import { questions } from './questions/questions.ts';
import { replay } from './replay/replay.ts';
import { printReport, withFailedPeers, writeReports } from './report.ts';
import { rerun } from './rerun/rerun.ts';
import { rounds } from './rounds/rounds.ts';
import { savers } from './savers/savers.ts';
import { scale } from './scale/scale.ts';
import { search } from './search/search.ts';
import { selectors } from './selectors/selectors.ts';
import { stages } from './stages/stages.ts';
import type { BenchmarkOptions, Report } from './table.ts';
import { verdict } from './verdict/verdict.ts';
import { workspace } from './workspace/workspace.ts';

type Benchmark = (options: BenchmarkOptions) => Promise<Report>;

const benchmarks: Readonly<Record<Name, Benchmark>> = {
  append,
  replay,
  growth,
  histories,
  calls,
  selectors,
  causes,
  questions,
  checks,
  stages,
  audit,
  branches,
  kafka,
  gateway,
  import: importing,
  proxy,
  savers,
  rerun,
  workspace,
  analysis,
  rounds,
  verdict,
  search,
  page,
  scale,
};

const run = async (options: Options, name: Name): Promise<Report> => {
  const directory = join(options.scratch, `${name}-${process.pid}`);
  try {
    const { quick, rounds, only } = options;
    const report = await benchmarks[name]({ directory, quick, rounds, ...(only !== undefined && { only }) });
    return withFailedPeers(report, takeFailedPeers());
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

/** Tables that compare Stemma with nothing else. */
const OURS: ReadonlySet<Name> = new Set([
  'checks',
  'stages',
  'questions',
  'audit',
  'branches',
  'gateway',
  'import',
  'proxy',
  'rerun',
  'workspace',
  'analysis',
  'rounds',
  'verdict',
  'search',
  'page',
  'scale',
]);

type Unfinished = { readonly name: Name; readonly reason: string; readonly measured: readonly unknown[] };

const main = async (options: Options): Promise<void> => {
  const withPeers = options.tables.some((name) => !OURS.has(name));
  const peers = withPeers && installPeers();
  const found = machine(options.scratch, peers);
  const reports: Report[] = [];
  const unfinished: Unfinished[] = [];
  const printJson = (ended: readonly Unfinished[] = []): void =>
    console.log(
      JSON.stringify(
        { machine: found, quick: options.quick, reports, unfinished: [...unfinished, ...ended] },
        null,
        2,
      ),
    );
  let current: Name | undefined;
  // Who ends it early has what was measured until then.
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      const name = current;
      if (options.json) printJson(name && [{ name, reason: `ended by ${signal}`, measured: takeMeasured() }]);
      process.exit(1);
    });
  for (const name of options.tables)
    try {
      current = name;
      takeMeasured();
      const report = await run(options, name);
      reports.push(report);
      if (!options.json) console.log(`${printReport(report)}\n`);
    } catch (error) {
      // What was measured before stands, and so do the other tables.
      process.exitCode = 1;
      const reason = error instanceof Error ? error.message : String(error);
      const measured = takeMeasured();
      unfinished.push({ name, reason, measured });
      if (options.json) continue;
      const lines = measured.map((one) => `${JSON.stringify(one)}\n`).join('');
      console.log(`### ${name}: not finished\n\n${reason}\n\nMeasured until then:\n\n${lines}`);
    }
  if (options.json) printJson();
  if (options.write) writeReports(reports, found, new Date().toISOString().slice(0, 10));
};

await main(parseOptions(process.argv.slice(2)));
