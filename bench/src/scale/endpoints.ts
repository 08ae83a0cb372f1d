import type { EndpointName } from '@stemma/api';
import type { Asked, Measured } from './asked.ts';
import { NAME } from './record.ts';

export type Input = Readonly<Record<string, unknown>>;

const history = NAME;
const ofHistory: Input = { history };
const page = (ask: (calls: number) => Input): Measured<Input> => ({ growth: 'page', ask });
const whole = (ask: (calls: number) => Input): Measured<Input> => ({ growth: 'whole', ask });
const middle = (calls: number): number => Math.floor(calls / 2);
const because = (reason: string): Asked<Input> => ({ reason });

const MODEL = because('it asks a model, or records what one was asked: the time is that of a call');
const POOL = because('it reads pools, which the table of rounds measures');
const BODY = because('it gives bytes that were recorded, however many calls there are');
const STREAM = because('it gives what comes, for as long as somebody listens');
const actor = 'bench';

/** Commands are sent once for each round, so each needs an id of its own. */
let commands = 0;
const command = (steps: readonly object[]): Input => ({
  history,
  body: { id: `scale-${process.pid}-${++commands}`, actor, notes: 'measured', steps },
});

/** How each endpoint is asked, at the end or in the middle of a history of so many calls. */
export const ENDPOINTS_ASKED: Readonly<Record<EndpointName, Asked<Input>>> = {
  histories: page(() => ({ limit: 100 })),
  history: page(() => ofHistory),
  snapshots: page((calls) => ({ history, limit: 100, before: middle(calls) })),
  tree: page((calls) => ({ history, at: `@c${middle(calls)}`, limit: 100, tail: 100 })),
  node: page((calls) => ({ history, node: `q${middle(calls)}` })),
  thread: whole(() => ofHistory),
  export: whole(() => ofHistory),
  select: whole(() => ({ history, selector: '@t0 .cb' })),
  diff: page((calls) => ({ history, a: `@c${middle(calls)}`, b: `@c${middle(calls) + 1}` })),
  why: page((calls) => ({ history, node: `q${middle(calls)}` })),
  blame: page(() => ({ history, bytes: '10000-20000' })),
  cache: whole(() => ofHistory),
  calls: page((calls) => ({ history, after: middle(calls), limit: 100 })),
  tools: whole(() => ofHistory),
  sizes: page((calls) => ({ history, after: middle(calls), limit: 100 })),
  bisect: whole((calls) => ({ history, good: '@c1', bad: '@t0', when: `#q${Math.ceil(calls * 0.7)}` })),
  watch: STREAM,
  recordCall: MODEL,
  attempts: page((calls) => ({ history, from: 2 * middle(calls), limit: 100 })),
  attempt: page((calls) => ({ history, attempt: `call-${middle(calls)}` })),
  attemptRequest: BODY,
  attemptCame: BODY,
  attemptResponse: BODY,
  assignCall: because('it corrects one call, and a second time there is nothing to correct'),
  linkConversation: because('it corrects one branch, and a second time there is nothing to correct'),
  search: page((calls) => ({ q: `q${middle(calls)}`, limit: 20 })),
  continueBranch: MODEL,
  retryCall: MODEL,
  steer: page(() => ({ history, body: { actor, notes: 'measured', on: false } })),
  breakpoints: page(() => ofHistory),
  addBreakpoint: page(() => ({ history, body: { actor, notes: 'measured', model: 'nobody' } })),
  removeBreakpoint: because('it is addBreakpoint once more, and needs a breakpoint for each round'),
  held: page(() => ofHistory),
  heldOf: page(() => ofHistory),
  release: because('it needs a call that is held'),
  recordExchange: MODEL,
  recordExchanges: MODEL,
  compare: whole((calls) => ({ history, a: `@c${middle(calls)}`, b: '@t0' })),
  comparePage: whole((calls) => ({ history, a: `@c${middle(calls)}`, b: '@t0' })),
  interventions: page((calls) => ({ history, from: middle(calls), limit: 100 })),
  intervention: page((calls) => ({ history, id: `said-${50 * Math.floor(calls / 100)}` })),
  impact: whole((calls) => ({ history, id: `said-${50 * Math.floor(calls / 100)}` })),
  interventionLines: whole(() => ofHistory),
  experiment: whole(() => ofHistory),
  runExperiment: MODEL,
  branches: whole(() => ofHistory),
  saved: whole(() => ofHistory),
  config: page(() => ofHistory),
  observations: page(() => ({ history, limit: 100 })),
  preview: page(() => ({
    history,
    body: { actor, steps: [{ op: 'inject', text: 'what if' }] },
  })),
  range: page(() => ({ history, selector: '@t-20..@t0 .cb' })),
  events: page((calls) => ({ history, from: middle(calls), limit: 100 })),
  start: page(() => ({
    body: { id: `scale-${process.pid}-${++commands}`, actor, name: `other-${commands}` },
  })),
  command: page(() => command([{ op: 'annotate', note: 'measured' }])),
  stream: STREAM,
  stats: whole(() => ({})),
  doctor: whole(() => ({})),
  checkpoint: whole(() => ({})),
  verify: page(() => ({})),
  healthLive: page(() => ({})),
  healthReady: page(() => ({})),
  startPool: POOL,
  pool: POOL,
  poolMessages: POOL,
  embedPool: POOL,
  runPool: POOL,
  askPool: MODEL,
  poolRuns: page(() => ({})),
  requestRun: POOL,
  stopRun: POOL,
  resumeRun: POOL,
  poolRows: POOL,
  poolMetrics: POOL,
  poolMap: POOL,
  poolNear: POOL,
  verdict: POOL,
  report: POOL,
  ctrees: whole(() => ({ session: history })),
  ctreesTree: whole(() => ({ session: history })),
  ctreesEvents: page((calls) => ({ session: history, offset: middle(calls), limit: 100 })),
  ctreesStream: STREAM,
  // On a branch: the others are asked about all calls of `main`.
  load: page((calls) => ({
    history: `${NAME}:try-8`,
    body: {
      id: `scale-${process.pid}-${++commands}`,
      actor,
      notes: 'measured',
      from: `@name:n${100 * Math.floor(calls / 200)}`,
    },
  })),
};
