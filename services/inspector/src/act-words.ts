import { toWireJson, type Intervention } from '@stemma/api';
import type { InterventionType } from './use-lineages.ts';

/** Everything an observer can do. */
export const TYPES: readonly InterventionType[] = [
  'message_inject',
  'config_change',
  'fork',
  'rollback',
  'run',
  'external_query',
  'edit',
  'save',
  'annotate',
];

const MOST = 400;

/** What was done, in a line. */
export const actWords = ({ intervention_type: type, content }: Intervention): string => {
  switch (type) {
    case 'message_inject':
      return text(content['text']);
    case 'config_change':
      return Object.entries(content)
        .map(([key, change]) => `${key} = ${text(part(change, 'to'))}`)
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
            .map((one) => `${text(part(one, 'op'))} ${text(part(one, 'id') ?? '')}`.trim())
            .join(', ')
        : '';
    case 'run':
      return `${text(content['rounds'])} rounds`;
  }
};

const part = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[key] : undefined;

const text = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : (typeof value === 'string' ? value : toWireJson(value)).slice(0, MOST);

export type Place = { readonly lineage: string; readonly at: string };

/** The positions around an intervention. A rollback begins on the lineage that it leaves. */
export const placesOf = (act: Intervention): { readonly before: Place | null; readonly after: Place } => {
  const own = `${act.history}:${act.strand}`;
  const abandoned = act.intervention_type === 'rollback' ? act.content['abandoned'] : undefined;
  return {
    before:
      act.snapshot_before === null
        ? null
        : { lineage: typeof abandoned === 'string' ? abandoned : own, at: act.snapshot_before },
    after: { lineage: own, at: act.snapshot_after },
  };
};
