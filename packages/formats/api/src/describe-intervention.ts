import { cutText } from './excerpt.ts';
import type { InterventionAnswer } from './interventions.ts';
import { toWireJson } from './wire-json.ts';

const MAX_CHARACTERS = 400;

/** What an intervention did, in words on a line: at most 400 characters of each text. Nothing: its type says it all. */
export const describeIntervention = ({
  intervention_type: type,
  content,
}: Pick<InterventionAnswer, 'intervention_type' | 'content'>): string => {
  switch (type) {
    case 'message_inject':
      return text(content['text']);
    case 'config_change':
      return Object.entries(content)
        .filter(([, change]) => field(change, 'to') !== undefined)
        .map(([key, change]) => `${key} = ${text(field(change, 'to'))}`)
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
      return Array.isArray(content['commands'])
        ? content['commands']
            .slice(0, 20)
            .map((one) => `${text(field(one, 'op'))} ${text(field(one, 'id') ?? '')}`.trim())
            .join(', ')
        : '';
    case 'run':
      if (content['requested'] !== undefined) return `asks for ${text(content['requested'])} rounds`;
      if (content['ended'] !== undefined) return `ends ${text(content['ended'])}: ${text(content['why'])}`;
      return `${text(content['rounds'])} rounds`;
    case 'rerun':
      return `${text(content['rerun'])}: ${rerunText(content)}`;
  }
};

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
