import { ENDPOINTS, QUESTIONS, type EndpointName, type Question } from '@stemma/api';
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
const FILES = because(
  'no files are recorded with the history: what is read grows with them, not with the calls',
);
const STREAM = because('it gives what comes, for as long as somebody listens');
const actor = 'bench';

/** What a question takes, by the names of its parameters, at the end or in the middle of a history of so many calls. */
const VALUES: Readonly<Record<string, (calls: number) => string>> = {
  history: () => history,
  session: () => history,
  node: (calls) => `q${middle(calls)}`,
  id: (calls) => `said-${50 * Math.floor(calls / 100)}`,
  selector: () => '@t0 .cb',
  a: (calls) => `@c${middle(calls)}`,
  b: () => '@t0',
  good: () => '@c1',
  bad: () => '@t0',
  when: (calls) => `#q${Math.ceil(calls * 0.7)}`,
};

/** A question with what it must have, and with the history; what is heavy or streamed is asked for whole. */
const askOf = ({ name, params, query, heavy, streamed }: Question): Measured<Input> => {
  const wanted = Object.entries<{ safeParse: (value: undefined) => { success: boolean } }>({
    ...params?.shape,
    ...query?.shape,
  }).flatMap(([parameter, shape]) =>
    parameter === 'history' || !shape.safeParse(undefined).success ? [parameter] : [],
  );
  const unknown = wanted.filter((parameter) => VALUES[parameter] === undefined);
  if (unknown.length > 0)
    throw new Error(`scale/endpoints.ts has no value for ${unknown.join(', ')} of ${name}`);
  return {
    growth: heavy === true || streamed === true ? 'whole' : 'page',
    ask: (calls) => Object.fromEntries(wanted.map((parameter) => [parameter, VALUES[parameter]?.(calls)])),
  };
};

/** Commands are sent once for each round, so each needs an id of its own. */
let commands = 0;
const command = (steps: readonly object[]): Input => ({
  history,
  body: { id: `scale-${process.pid}-${++commands}`, actor, notes: 'measured', steps },
});

/** How endpoints are asked that change something, and questions that are not asked with VALUES alone. */
const OWN: Readonly<
  Record<Exclude<EndpointName, keyof typeof QUESTIONS>, Asked<Input>> &
    Partial<Record<keyof typeof QUESTIONS, Asked<Input>>>
> = {
  histories: page(() => ({ limit: 100 })),
  snapshots: page((calls) => ({ history, limit: 100, before: middle(calls) })),
  tree: page((calls) => ({ history, at: `@c${middle(calls)}`, limit: 100, tail: 100 })),
  diff: page((calls) => ({ history, a: `@c${middle(calls)}`, b: `@c${middle(calls) + 1}` })),
  why: page((calls) => ({ history, node: `q${middle(calls)}` })),
  blame: page(() => ({ history, bytes: '10000-20000' })),
  calls: page((calls) => ({ history, after: middle(calls), limit: 100 })),
  sizes: page((calls) => ({ history, after: middle(calls), limit: 100 })),
  filmstrip: page((calls) => ({ history, branch: 0, after: middle(calls), limit: 100 })),
  watch: STREAM,
  file: FILES,
  files: FILES,
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
  addBreakpoint: page(() => ({ history, body: { actor, notes: 'measured', model: 'nobody' } })),
  removeBreakpoint: because('it is addBreakpoint once more, and needs a breakpoint for each round'),
  release: because('it needs a call that is held'),
  recordExchange: MODEL,
  recordExchanges: MODEL,
  traces: MODEL,
  interventions: page((calls) => ({ history, from: middle(calls), limit: 100 })),
  intervention: page((calls) => ({ history, id: `said-${50 * Math.floor(calls / 100)}` })),
  runExperiment: MODEL,
  branches: whole(() => ofHistory),
  saved: whole(() => ofHistory),
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
  checkpoint: whole(() => ({})),
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

/** How each endpoint is asked, at the end or in the middle of a history of so many calls. */
export const ENDPOINTS_ASKED = Object.fromEntries(
  Object.keys(ENDPOINTS).map((name) => [
    name,
    OWN[name as EndpointName] ?? askOf(QUESTIONS[name as keyof typeof QUESTIONS]),
  ]),
) as Readonly<Record<EndpointName, Asked<Input>>>;
