/** The value of a header as one text, however often it came. */
export const headerText = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'string' || value === undefined ? value : value.join(', ');
