import { clusterVectors } from './analysis/cluster.ts';
import { compareVectors } from './analysis/compare.ts';
import { searchVectors } from './analysis/search.ts';
import { appendToEmmett } from './append/emmett.ts';
import { appendToFile } from './append/file-system.ts';
import { appendToHome } from './append/home.ts';
import { appendToLog } from './append/log.ts';
import { askImpact, recordInjection } from './audit/ask-impact.ts';
import { exportInterventions } from './audit/export-interventions.ts';
import { writeInterventions } from './audit/write-interventions.ts';
import { branch } from './branches/branch.ts';
import { readOneRequest, recordConversation } from './calls/record-conversation.ts';
import { askWhy } from './causes/ask-why.ts';
import { growLangGraph } from './growth/langgraph.ts';
import { growStemma } from './growth/stemma.ts';
import { submitToHistories } from './histories/submit.ts';
import { measureChecks } from './checks/measure-checks.ts';
import { consumeKafka } from './kafka/consume.ts';
import { produceKafka } from './kafka/produce.ts';
import { writeKafka } from './kafka/write.ts';
import { applyAlone } from './replay/core.ts';
import { decodeAlone } from './replay/decode.ts';
import { replayEmmett } from './replay/emmett.ts';
import { generate } from './replay/generate.ts';
import { rebuild } from './replay/rebuild.ts';
import { runRounds } from './rounds/run-rounds.ts';
import { askCssSelect } from './selectors/css-select.ts';
import { askStemma } from './selectors/stemma.ts';
import { measureStages } from './stages/compile.ts';
import { foldCommits } from './stages/fold.ts';

/** Every measurement that runs in a process of its own, by name. */
const probes: Readonly<Record<string, (input: never) => Promise<unknown>>> = {
  'analysis/cluster': clusterVectors,
  'analysis/compare': compareVectors,
  'analysis/search': searchVectors,
  'append/file': appendToFile,
  'append/log': appendToLog,
  'append/home': appendToHome,
  'append/emmett': appendToEmmett,
  'audit/write': writeInterventions,
  'audit/export': exportInterventions,
  'audit/record': recordInjection,
  'audit/impact': askImpact,
  'calls/record': recordConversation,
  'calls/read': readOneRequest,
  'causes/why': askWhy,
  'checks/measure': measureChecks,
  'kafka/write': writeKafka,
  'kafka/produce': produceKafka,
  'kafka/consume': consumeKafka,
  'replay/generate': generate,
  'replay/core': applyAlone,
  'replay/decode': decodeAlone,
  'replay/rebuild': rebuild,
  'replay/emmett': replayEmmett,
  'growth/stemma': growStemma,
  'growth/langgraph': growLangGraph,
  'histories/submit': submitToHistories,
  'rounds/run': runRounds,
  'selectors/stemma': askStemma,
  'selectors/css-select': askCssSelect,
  'branches/branch': branch,
  'stages/compile': measureStages,
  'stages/fold': foldCommits,
};

const [name = '', input = 'null'] = process.argv.slice(2);
const measure = probes[name];
if (measure === undefined) throw new Error(`there is no measurement ${name}`);
const value = await measure(JSON.parse(input) as never);
// Kilobytes, on Linux and in Node.js everywhere.
const peak = process.resourceUsage().maxRSS * 1024;
process.stdout.write(`\n${JSON.stringify({ value, peak })}\n`);
