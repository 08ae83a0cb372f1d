import { type IConfiguration, type IForbiddenRuleType } from 'dependency-cruiser';
import { inspectorPackages, pureLibraries, pureRooms, rooms } from './layers.ts';

const anyOf = (names: readonly string[]) => `(${names.join('|')})`;
/** Tests and contract suites may read files and take the test kit; they are never imported by what they test. */
const tests = '\\.test\\.tsx?$|/test/|/src/contract(\\.ts$|/)';
/** A package, service or example, as `$1`. */
const within = '^(packages/[^/]+/[^/]+|(?!packages/)[a-z]+/[^/]+)/';
const anywhere = '^(packages|services|bench|examples)/';

const pure = `^packages/${anyOf(pureRooms)}/`;

/** Tests, too: what they need of rooms above they find in the test kit, which `tests-are-leaves` keeps from what runs. */
const notUpwards = rooms.map((room, position) => ({
  name: `room-${room}`,
  comment: `Packages of ${room} import only ${rooms.slice(0, position + 1).join(', ')}.`,
  severity: 'error' as const,
  from: { path: `^packages/${room}/` },
  to: {
    path: anywhere,
    pathNot: [`^packages/${anyOf(rooms.slice(0, position + 1))}/`, '^packages/testing/test-kit/'],
  },
}));

/** The import rules, as dependency-cruiser reads them. */
export const importRules: IConfiguration & { readonly forbidden: IForbiddenRuleType[] } = {
  forbidden: [
    {
      name: 'resolvable',
      comment: 'Everything imported exists. Without this rule a tool that resolves nothing would be content.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-cycles',
      comment: 'A package is read from its first file to its last; a cycle has no first.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'pure-imports-only-pure',
      comment: 'A pure package imports only pure packages.',
      severity: 'error',
      from: { path: pure, pathNot: tests },
      to: { path: anywhere, pathNot: pure },
    },
    {
      name: 'pure-touches-nothing',
      comment: 'Of Node.js, a pure package may use the hash, the checksum (zlib) and the byte buffer.',
      severity: 'error',
      from: { path: pure, pathNot: tests },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|buffer|zlib)$' },
    },
    {
      name: 'pure-libraries',
      comment: `The libraries of a pure package: ${pureLibraries.join(', ')}.`,
      severity: 'error',
      from: { path: pure, pathNot: tests },
      to: { path: 'node_modules/', pathNot: `node_modules/${anyOf(pureLibraries)}/` },
    },
    ...notUpwards,
    {
      name: 'services-apart',
      comment: 'No service imports another, except that the command line runs them.',
      severity: 'error',
      from: { path: '^services/([^/]+)/', pathNot: tests },
      to: {
        path: '^services/',
        pathNot: ['^services/$1/', '^services/(gateway|projector|relay|runner)/src/index\\.ts$'],
      },
    },
    {
      name: 'gateway-runs-alone',
      comment: 'Only the command line imports another service.',
      severity: 'error',
      from: { path: '^services/([^/]+)/', pathNot: [tests, '^services/cli/'] },
      to: { path: '^services/(gateway|projector|relay|runner)/', pathNot: '^services/$1/' },
    },
    {
      name: 'inspector-sees-little',
      comment: `Of Stemma, the inspector imports only ${inspectorPackages.join(', ')}: the rest comes over HTTP.`,
      severity: 'error',
      from: { path: '^services/inspector/src/', pathNot: tests },
      to: { path: '^packages/', pathNot: `^packages/[^/]+/${anyOf(inspectorPackages)}/` },
    },
    {
      name: 'front-door',
      comment:
        'A package is entered by its index.ts (a port also by its contract.ts, the test kit by what opens a home, the recorder by what tests run, the APIs by the table of providers, which every command reads).',
      severity: 'error',
      from: { path: within },
      to: {
        path: '^(packages|services)/[^/]+/',
        pathNot: [
          '^$1/',
          '^packages/[^/]+/[^/]+/src/(index|contract)\\.ts$',
          '^packages/testing/test-kit/src/home/index\\.ts$',
          '^packages/agents/recorder/src/rerun\\.ts$',
          '^packages/formats/model-apis/src/providers\\.ts$',
          '^services/(gateway|projector|relay|runner)/src/index\\.ts$',
        ],
      },
    },
    {
      name: 'by-name',
      comment: 'Another package is imported by its name, not by a path.',
      severity: 'error',
      from: { path: within },
      to: { path: anywhere, pathNot: '^$1/', dependencyTypes: ['local'] },
    },
    {
      name: 'kafkajs-in-one-place',
      comment:
        'The Kafka client has faults with answers; they are all in log-kafka/src/protocol. Benchmarks, tests and examples are others.',
      severity: 'error',
      from: {
        pathNot:
          '^(packages/storage/log-kafka/(src/protocol|test)|packages/testing/test-kit|bench/src/kafka|examples)/',
      },
      to: { path: 'node_modules/kafkajs/' },
    },
    {
      name: 'plain-loop',
      comment:
        'The projector folds without threads: it, its tests too, imports nothing of what only makes it faster.',
      severity: 'error',
      from: { path: '^packages/engine/projector/' },
      to: { path: '^packages/engine/projector-threads/' },
    },
    {
      name: 'one-door',
      comment: 'Of counts and of folding on demand the rest of the projector imports their index.ts.',
      severity: 'error',
      from: { path: '^packages/engine/projector/src/((counts|on-demand)/)?', pathNot: tests },
      to: {
        path: '^packages/engine/projector/src/(counts|on-demand)/',
        pathNot: ['^packages/engine/projector/src/$1[^/]+$', '/index\\.ts$'],
      },
    },
    {
      name: 'tests-are-leaves',
      comment: 'What runs does not import tests, contract suites or the test kit.',
      severity: 'error',
      from: { path: anywhere, pathNot: [tests, '^packages/testing/test-kit/', '^bench/'] },
      to: { path: [tests, '^packages/testing/test-kit/'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Programs that run where clients of models are installed, and not here.
    exclude: { path: '(^|/)(dist|canaries)/|^bench/peers/|^services/cli/test/clients/agents/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
    },
    parser: 'tsc',
  },
};
