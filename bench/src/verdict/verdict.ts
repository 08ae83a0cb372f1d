import {
  compareRuns,
  seededRandom,
  SIZES,
  type Random,
  type RunVerdict,
  type VerdictWord,
} from '@stemma/analysis';
import { figure, type Aim, type BenchmarkOptions, type Report } from '../table.ts';
import { agent, pool, type Planted, type Simulator } from './simulate.ts';

type Scenario = {
  readonly name: string;
  readonly simulator: Simulator;
  readonly runs: number;
  readonly planted: Planted;
};

const NOTHING: Planted = { decisions: false, wording: false };
const DECISIONS: Planted = { decisions: true, wording: false };
const WORDING: Planted = { decisions: false, wording: true };
const BOTH: Planted = { decisions: true, wording: true };

/** Runs of each arm: with so many, a difference of the named size is seen (docs/analysis.md). */
const AGENTS = 8;
const POOLS = 12;
const STEPS = 25;

const SCENARIOS: readonly Scenario[] = [
  { name: 'nothing differs, agents', simulator: agent(STEPS), runs: AGENTS, planted: NOTHING },
  { name: 'nothing differs, pools', simulator: pool(STEPS), runs: POOLS, planted: NOTHING },
  { name: 'one decision in four differs, agents', simulator: agent(STEPS), runs: AGENTS, planted: DECISIONS },
  { name: 'minds like other topics, pools', simulator: pool(STEPS), runs: POOLS, planted: DECISIONS },
  { name: 'the wording alone differs, agents', simulator: agent(STEPS), runs: AGENTS, planted: WORDING },
  { name: 'the wording alone differs, pools', simulator: pool(STEPS), runs: POOLS, planted: WORDING },
  { name: 'both differ, agents', simulator: agent(STEPS), runs: AGENTS, planted: BOTH },
  { name: 'steps taken for independent, agents', simulator: agent(100), runs: 1, planted: NOTHING },
  { name: 'steps taken for independent, pools', simulator: pool(100), runs: 1, planted: NOTHING },
];

const COLUMNS: readonly VerdictWord[] = [
  'decisions differ',
  'only the telling differs',
  'both',
  'neither',
  'cannot tell',
];

const runsOf = (random: Random, { simulator, runs }: Scenario, planted: Planted) =>
  Array.from({ length: runs }, (_, i) => simulator(random, planted, `run ${i}`));

const experiment = (scenario: Scenario, seed: number): RunVerdict => {
  const random = seededRandom(seed);
  const [a, b] = [runsOf(random, scenario, NOTHING), runsOf(random, scenario, scenario.planted)];
  return compareRuns(a, b, {
    permutations: 399,
    resamples: 50,
    seed,
    unit: scenario.runs === 1 ? 'steps' : 'runs',
  });
};

type Tally = {
  readonly words: ReadonlyMap<VerdictWord, number>;
  readonly decisions: number;
  readonly telling: number;
  readonly power: number;
};

const tallyOf = (scenario: Scenario, experiments: number, first: number): Tally => {
  const words = new Map<VerdictWord, number>();
  let [decisions, telling, power] = [0, 0, 0];
  for (let i = 0; i < experiments; i++) {
    const found = experiment(scenario, first + i);
    words.set(found.verdict, (words.get(found.verdict) ?? 0) + 1);
    decisions += Number(found.decisions.isDifferent);
    telling += Number(found.telling.isDifferent);
    power += found.decisions.power / experiments;
  }
  return { words, decisions, telling, power };
};

const percent = (count: number, of: number): string => `${((100 * count) / of).toFixed(1)} %`;

/** How often verdicts are right and wrong, over simulated experiments of which it is known what differs. */
export const verdict = async ({ quick, only }: BenchmarkOptions): Promise<Report> => {
  const experiments = quick ? 100 : 1_000;
  const chosen = SCENARIOS.filter(({ name }) => only === undefined || name.includes(only));
  const tallies = chosen.map((scenario) =>
    tallyOf(scenario, experiments, 10_000_000 * (1 + SCENARIOS.indexOf(scenario))),
  );
  const share = (name: string, count: (tally: Tally) => number): number | undefined => {
    const found = tallies[chosen.findIndex((scenario) => scenario.name === name)];
    return found === undefined ? undefined : count(found) / experiments;
  };
  const alarms = ({ words }: Tally): number =>
    experiments - (words.get('neither') ?? 0) - (words.get('cannot tell') ?? 0);
  const onlyTold = ({ words }: Tally): number => words.get('only the telling differs') ?? 0;
  const within = (name: string): Aim[] => {
    const found = share(name, alarms);
    if (found === undefined) return [];
    return [
      {
        what: `${name}: false alarms`,
        aim: '4 to 6 %',
        measured: shown(found),
        met: found >= 0.04 && found <= 0.06,
      },
    ];
  };
  const least = (what: string, name: string, bound: number, count: (tally: Tally) => number): Aim[] => {
    const found = share(name, count);
    if (found === undefined) return [];
    return [
      { what: `${name}: ${what}`, aim: `≥ ${100 * bound} %`, measured: shown(found), met: found >= bound },
    ];
  };
  const shown = (found: number): string => percent(found, 1);
  const rows = chosen.map(({ name }, i) => {
    const { words, decisions, telling, power } = tallies[i]!;
    return [
      name,
      percent(decisions, experiments),
      percent(telling, experiments),
      power.toFixed(2),
      ...COLUMNS.map((column) => percent(words.get(column) ?? 0, experiments)),
    ];
  });
  return {
    name: 'verdict',
    tables: [
      {
        title: `Verdicts on ${figure(experiments)} simulated experiments each`,
        columns: ['what is simulated', 'decisions', 'telling', 'power foreseen', ...COLUMNS],
        rows,
        notes: [
          `${AGENTS} runs of agents and ${POOLS} of pools in each arm, of ${STEPS} steps; runs of one arm differ by chance, too. "decisions" and "telling": how often each half is called different.`,
          `Decisions are planted in the size that verdicts ask for: ${100 * SIZES.decisions} % of the choices of agents differ; minds of pools like half of the topics 3.3 times as much, by which between 24 % and 29 % do (measured with 100 runs in each arm). The power is what verdicts foresee for ${100 * SIZES.decisions} %.`,
          'The last two rows: one run of 100 steps in each arm, judged with `--unit steps`, though steps of one run have something in common. Without it the verdict is "cannot tell".',
        ],
      },
    ],
    aims: [
      ...within('nothing differs, agents'),
      ...within('nothing differs, pools'),
      ...least(
        'decisions are called different',
        'one decision in four differs, agents',
        0.8,
        ({ decisions }) => decisions,
      ),
      ...least(
        'decisions are called different',
        'minds like other topics, pools',
        0.8,
        ({ decisions }) => decisions,
      ),
      ...least('only the telling is called different', 'the wording alone differs, agents', 0.95, onlyTold),
      ...least('only the telling is called different', 'the wording alone differs, pools', 0.95, onlyTold),
    ],
    figures: { experiments, rows },
  };
};
