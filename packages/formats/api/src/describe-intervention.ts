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
      return text(content['note']);
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
  }
};

const field = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;

const text = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : cutText(typeof value === 'string' ? value : toWireJson(value), MAX_CHARACTERS);
