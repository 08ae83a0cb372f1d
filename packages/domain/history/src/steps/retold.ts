import type { WideJsonObject } from '@stemma/canonical';

/** What another record says of an intervention, where it is imported. */
export const retoldIn = ({
  retold,
}: {
  readonly retold?: WideJsonObject | undefined;
}): { readonly retold?: WideJsonObject } => (retold === undefined ? {} : { retold });
