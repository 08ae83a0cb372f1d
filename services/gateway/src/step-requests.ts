import { anyJson, reference, servedEndpoints, type StepRequest } from '@stemma/api';
import { STEP_FIELDS, STEPS, type AnyStepSpec } from '@stemma/history';
import { z } from 'zod';

/** How a field is given over HTTP: a position may be a reference, and what a step takes as any JSON is said so. */
const fieldOf = (field: z.ZodType): z.ZodType => {
  if (field instanceof z.ZodOptional) return fieldOf(field.unwrap() as z.ZodType).optional();
  if (field instanceof z.ZodNullable) return fieldOf(field.unwrap() as z.ZodType).nullable();
  switch (field) {
    case STEP_FIELDS.position:
      return z
        .union([STEP_FIELDS.position, reference])
        .describe('{branchId, seq}, or a reference that is resolved when the command arrives');
    case STEP_FIELDS.json:
      return anyJson;
    case STEP_FIELDS.object:
      return z.record(z.string(), anyJson);
    default:
      return field;
  }
};

const requestOf = ({ schema, request }: AnyStepSpec): readonly z.ZodObject[] => {
  if (request === undefined) return [];
  const fields = Object.entries((schema as unknown as z.ZodObject).shape)
    .filter(([name]) => !request.without.includes(name))
    .map(([name, field]) => [name, fieldOf(field as z.ZodType)]);
  return [z.strictObject(Object.fromEntries(fields) as z.ZodRawShape)];
};

/** What may be done to a branch over HTTP, as the files of the steps say. */
const StepRequests = z
  .discriminatedUnion(
    'op',
    [...STEPS.values()].flatMap(requestOf) as unknown as readonly [
      z.ZodObject<{ op: z.ZodLiteral<string> }>,
      ...z.ZodObject<{ op: z.ZodLiteral<string> }>[],
    ],
  )
  .meta({ id: 'Step' });

/** The contract, with the steps that a command may have. */
export const SERVED = servedEndpoints(StepRequests as unknown as z.ZodType<StepRequest, StepRequest>);
