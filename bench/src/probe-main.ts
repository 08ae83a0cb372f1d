type Measurement = (input: never) => Promise<unknown>;

/** Every measurement that runs in a process of its own, by name. What others import is not loaded. */
const probes: Readonly<Record<string, () => Promise<Measurement>>> = {
  'analysis/cluster': async () => (await import('./analysis/cluster.ts')).clusterVectors,
  'analysis/compare': async () => (await import('./analysis/compare.ts')).compareVectors,
  'analysis/search': async () => (await import('./analysis/search.ts')).searchVectors,
  'append/file': async () => (await import('./append/file-system.ts')).appendToFile,
  'append/log': async () => (await import('./append/log.ts')).appendToLog,
  'append/home': async () => (await import('./append/home.ts')).appendToHome,
  'append/emmett': async () => (await import('./append/emmett.ts')).appendToEmmett,
  'audit/write': async () => (await import('./audit/write-interventions.ts')).writeInterventions,
  'audit/export': async () => (await import('./audit/export-interventions.ts')).exportInterventions,
  'audit/record': async () => (await import('./audit/ask-impact.ts')).recordInjection,
  'audit/impact': async () => (await import('./audit/ask-impact.ts')).askImpact,
  'calls/record': async () => (await import('./calls/record-conversation.ts')).recordConversation,
  'calls/placing': async () => (await import('./calls/placing.ts')).placeCalls,
  'calls/read': async () => (await import('./calls/record-conversation.ts')).readOneRequest,
  'causes/why': async () => (await import('./causes/ask-why.ts')).askWhy,
  'checks/measure': async () => (await import('./checks/measure-checks.ts')).measureChecks,
  'kafka/write': async () => (await import('./kafka/write.ts')).writeKafka,
  'kafka/produce': async () => (await import('./kafka/produce.ts')).produceKafka,
  'kafka/write-singles': async () => (await import('./kafka/write-singles.ts')).writeSingles,
  'kafka/consume': async () => (await import('./kafka/consume.ts')).consumeKafka,
  'replay/generate': async () => (await import('./replay/generate.ts')).generate,
  'replay/core': async () => (await import('./replay/core.ts')).applyAlone,
  'replay/decode': async () => (await import('./replay/decode.ts')).decodeAlone,
  'replay/rebuild': async () => (await import('./replay/rebuild.ts')).rebuild,
  'replay/emmett': async () => (await import('./replay/emmett.ts')).replayEmmett,
  'growth/new-home': async () => (await import('./growth/stemma.ts')).growInNewHome,
  'growth/running-home': async () => (await import('./growth/stemma.ts')).growInRunningHome,
  'growth/langgraph': async () => (await import('./growth/langgraph.ts')).growLangGraph,
  'histories/submit': async () => (await import('./histories/submit.ts')).submitToHistories,
  'rerun/serve': async () => (await import('./rerun/serve.ts')).serveRecorded,
  'rounds/run': async () => (await import('./rounds/run-rounds.ts')).runRounds,
  'savers/record': async () => (await import('./savers/record.ts')).recordThread,
  'scale/record': async () => (await import('./scale/record.ts')).recordScale,
  'scale/endpoints': async () => (await import('./scale/ask-endpoints.ts')).askEndpoints,
  'scale/commands': async () => (await import('./scale/run-commands.ts')).runCommands,
  'selectors/stemma': async () => (await import('./selectors/stemma.ts')).askStemma,
  'selectors/css-select': async () => (await import('./selectors/css-select.ts')).askCssSelect,
  'branches/branch': async () => (await import('./branches/branch.ts')).branch,
  'stages/compile': async () => (await import('./stages/compile.ts')).measureStages,
  'stages/fold': async () => (await import('./stages/fold.ts')).foldCommits,
};

const [name = '', input = 'null'] = process.argv.slice(2);
const load = probes[name];
if (load === undefined) throw new Error(`there is no measurement ${name}`);
const measure = await load();
const value = await measure(JSON.parse(input) as never);
// Kilobytes, on Linux and in Node.js everywhere.
const peak = process.resourceUsage().maxRSS * 1024;
process.stdout.write(`\n${JSON.stringify({ value, peak })}\n`);
