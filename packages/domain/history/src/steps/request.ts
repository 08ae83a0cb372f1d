import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { BranchPosition } from '@stemma/events';
import type { z } from 'zod';
import type * as all from './all.ts';
import type { Offered } from './step.ts';

type Spec = (typeof all)[keyof typeof all];
type OfferedSpec = Extract<Spec, { readonly request: Offered }>;
/** Where a step names a position, a request may refer to it (`@t-1`); any JSON is whatever a client has. */
type Given<Value> = WideJson extends Value
  ? unknown
  : WideJsonObject extends Value
    ? { readonly [key: string]: unknown }
    : Extract<Value, BranchPosition> extends never
      ? Value
      : Value | string;

type RequestOf<S extends OfferedSpec> = S extends OfferedSpec
  ? {
      [
        Field in keyof z.infer<S['schema']> as Field extends S['request']['without'][number] ? never : Field
      ]: Given<z.infer<S['schema']>[Field]>;
    }
  : never;

/** What clients may ask for over HTTP. */
export type StepRequest = RequestOf<OfferedSpec>;
