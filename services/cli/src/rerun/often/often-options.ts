import { fail } from '@stemma/errors';
import { defined } from '@stemma/values';
import { text, whole } from '../../options.ts';
import { liveChange, type LiveChange } from '../live-settings.ts';

type Options = Readonly<Record<string, unknown>>;

/** The options that run a command more than once, and check what each run left behind. */
export const OFTEN_OPTIONS: readonly (readonly [syntax: string, description: string])[] = [
  ['--times <number>', 'run the command so often, and tell how often it passed (default: 1)'],
  ['--jobs <number>', 'with --times: the runs that are under way at the same time (default: 1)'],
  [
    '--verify <command>',
    'a command that a shell runs behind each run, in its directory: what ends with 0 has passed (default: the command itself has to end with 0)',
  ],
  [
    '--models <names>',
    'models to compare, with commas between them, at the provider of the recorded calls or as minds: each is an arm of --times runs, live from the first call on',
  ],
  [
    '--control',
    'one arm more, live from the same call on, in which nothing is changed: the others are compared with it (default: with the recording)',
  ],
];

/** How often a command runs, and with which changes. */
export type OftenAsked = {
  readonly times: number;
  readonly jobs: number;
  /** The models that are arms; empty: one arm, with what the other options change. */
  readonly models: readonly string[];
  readonly control: boolean;
};

/** What is asked; null: one run. @throws E_USAGE for numbers and names that cannot be */
export const oftenAsked = (options: Options): OftenAsked | null => {
  const times = whole(options, 'times', { least: 1, most: 1_000 });
  const jobs = whole(options, 'jobs', { least: 1, most: 64 });
  const models = modelsIn(text(options, 'models'));
  const control = options['control'] === true;
  if (times === undefined && models.length === 0) {
    const [only] = [jobs !== undefined ? '--jobs' : [], control ? '--control' : []].flat();
    if (only !== undefined) throw fail('E_USAGE', `${only} needs --times or --models`);
    return null;
  }
  if (options['learn'] === true) throw fail('E_USAGE', '--learn runs the command twice: leave out --times');
  if (text(options, 'report') !== undefined)
    throw fail('E_USAGE', '--report is of one run: leave out --times and --models');
  if (models.length > 0 && text(options, 'mind') !== undefined)
    throw fail('E_USAGE', '--models and --mind both say which model is asked: give one');
  return { times: times ?? 1, jobs: jobs ?? 1, models, control };
};

const MOST_MODELS = 50;

const modelsIn = (given: string | undefined): readonly string[] => {
  if (given === undefined) return [];
  const models = given.split(',').map((model) => model.trim());
  if (models.some((model) => model === ''))
    throw fail('E_USAGE', '--models takes names with commas between them, such as small,large');
  const twice = models.find((model, i) => models.indexOf(model) < i);
  if (twice !== undefined)
    throw fail('E_USAGE', `--models names ${JSON.stringify(twice.slice(0, 140))} twice`);
  if (models.length > MOST_MODELS) throw fail('E_USAGE', `--models takes ${MOST_MODELS} names at most`);
  return models;
};

/** What is another one in the live calls of a model's arm: a mind, or the model at the provider of the recorded calls. */
export const changeFor = (options: Options, model: string): LiveChange => {
  const isMind = /^(?:openai|openai\.responses|anthropic):|^offline(?::|$)/.test(model);
  return { ...liveChange(options), ...defined(isMind ? { mind: model } : { model }) };
};
