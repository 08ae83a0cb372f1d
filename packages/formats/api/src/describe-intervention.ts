import { cutText } from './excerpt.ts';
import type { InterventionAnswer } from './interventions.ts';
import { toWireJson } from './wire-json.ts';

const MAX_CHARACTERS = 400;
/** In front of the name of a breakpoint, which is a setting of its branch. */
const BREAKPOINT = 'breakpoint.';

/** Acts that have names of their own, and the types under which the log records them. */
export const NAMED_INTERVENTIONS = {
  breakpoint: 'config_change',
  steer: 'config_change',
  release: 'edit',
} as const satisfies { readonly [name: string]: InterventionAnswer['intervention_type'] };
type InterventionName = InterventionAnswer['intervention_type'] | keyof typeof NAMED_INTERVENTIONS;

type Described = Pick<InterventionAnswer, 'intervention_type' | 'content'>;

/** What an intervention is called in a list: `breakpoint` for a `config_change` that sets one. */
export const nameOfIntervention = ({ intervention_type: type, content }: Described): InterventionName => {
  const keys = Object.keys(content);
  if (type === 'config_change' && keys.length > 0) {
    if (keys.every((key) => key.startsWith(BREAKPOINT))) return 'breakpoint';
    if (keys.every((key) => key === 'steer')) return 'steer';
  }
  if (type === 'edit' && commandsOf(content).some((one) => field(one, 'op') === 'release')) return 'release';
  return type;
};

/** What an intervention did, in words on a line: at most 400 characters of each text. Nothing: its type says it all. */
export const describeIntervention = ({ intervention_type: type, content }: Described): string => {
  switch (type) {
    case 'message_inject':
      return text(content['text']);
    case 'config_change':
      return Object.entries(content)
        .filter(([, change]) => field(change, 'to') !== undefined)
        .map(([key, change]) => settingText(key, field(change, 'to')))
        .join(', ');
    case 'fork':
      return text(content['description']);
    case 'rollback':
      return [`to ${text(content['to'])}`, text(content['description'])]
        .filter((one) => one !== '')
        .join(': ');
    case 'save':
      return [text(content['name']), text(content['description'])].filter((one) => one !== '').join(': ');
    case 'annotate':
      return content['labels'] === undefined ? text(content['note']) : labelsText(content['labels']);
    case 'external_query':
      return text(content['question']);
    case 'edit':
      return commandsOf(content)
        .slice(0, 20)
        .map((one) =>
          field(one, 'op') === 'release'
            ? releaseText(field(one, 'how'))
            : `${text(field(one, 'op'))} ${text(field(one, 'id') ?? '')}`.trim(),
        )
        .join(', ');
    case 'run':
      if (content['requested'] !== undefined) return `asks for ${text(content['requested'])} rounds`;
      if (content['ended'] !== undefined) return `ends ${text(content['ended'])}: ${text(content['why'])}`;
      return `${text(content['rounds'])} rounds`;
    case 'rerun':
      return `${text(content['rerun'])}: ${rerunText(content)}`;
  }
};

const commandsOf = ({ commands }: InterventionAnswer['content']): readonly unknown[] =>
  Array.isArray(commands) ? commands : [];

/** `b1 holds calls where tool refund, cycle 3`; other settings as they are: `steer = true`. */
const settingText = (key: string, to: unknown): string => {
  if (!key.startsWith(BREAKPOINT)) return `${key} = ${text(to)}`;
  const name = key.slice(BREAKPOINT.length);
  if (typeof to !== 'object' || to === null) return `${name} is removed`;
  const conditions = Object.entries(to)
    .filter(([condition]) => condition !== 'timeout_ms' && condition !== 'then')
    .map(([condition, value]) => `${condition} ${text(value)}`);
  return `${name} holds calls where ${conditions.join(', ')}`;
};

const RELEASES: { readonly [how: string]: string } = {
  resumed: 'the held call goes on as it was',
  edited: 'the held call goes on as it was changed',
  aborted: 'the held call is refused',
};

const releaseText = (how: unknown): string => RELEASES[text(how)] ?? `the held call: ${text(how)}`;

/** What came of a rerun: `same 4, differs 1 at @c4 (tool result), exit 5`. */
const rerunText = (content: InterventionAnswer['content']): string => {
  const [counts, difference] = [content['counts'], content['difference']];
  const parts = ['same', 'bound', 'differs', 'extra', 'missing', 'live', 'notKept']
    .map((name) => [name === 'notKept' ? 'not kept' : name, text(field(counts, name))] as const)
    .filter(([, count]) => count !== '' && count !== '0')
    .map(([name, count]) => `${name} ${count}`);
  const first =
    difference === null || difference === undefined
      ? []
      : [`first at ${text(field(difference, 'label'))} (${text(field(difference, 'cause'))})`];
  return [...parts, ...first, `exit ${text(content['exit'])}`].join(', ');
};

/** `task=refund, -owner`: the second was taken away. */
const labelsText = (labels: unknown): string =>
  Object.entries(typeof labels === 'object' && labels !== null ? labels : {})
    .map(([label, value]) => (value === null ? `-${label}` : `${label}=${text(value)}`))
    .join(', ');

const field = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;

const text = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : cutText(typeof value === 'string' ? value : toWireJson(value), MAX_CHARACTERS);
