import { cutText, toWireJson, type InterventionAnswer } from '@stemma/api';
import { addressById } from './chosen.ts';

const MAX_CHARACTERS = 400;

/** The intervention in a line. */
export const describeIntervention = ({ intervention_type: type, content }: InterventionAnswer): string => {
  switch (type) {
    case 'message_inject':
      return text(content['text']);
    case 'config_change':
      return Object.entries(content)
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
      return `${text(content['rounds'])} rounds`;
  }
};

const field = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;

const text = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : cutText(typeof value === 'string' ? value : toWireJson(value), MAX_CHARACTERS);

export type PositionLink = { readonly branch: string; readonly at: string };

/** The positions around an intervention. For a rollback the first is on the branch that it leaves. */
export const positionsAround = (
  intervention: InterventionAnswer,
): { readonly before: PositionLink | null; readonly after: PositionLink } => {
  const own = addressById(intervention.history, intervention.branchId);
  const abandoned =
    intervention.intervention_type === 'rollback' ? intervention.content['abandoned'] : undefined;
  return {
    before:
      intervention.snapshot_before === null
        ? null
        : { branch: typeof abandoned === 'string' ? abandoned : own, at: intervention.snapshot_before },
    after: { branch: own, at: intervention.snapshot_after },
  };
};
