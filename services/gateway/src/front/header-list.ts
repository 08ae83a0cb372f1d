/** The headers of a request: name, value, name, value …, the names in lower case. Flat, since it goes to another thread. */
export type HeaderList = readonly string[];

export const headerIn = (headers: HeaderList, name: string): string | undefined => {
  for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1];
  return undefined;
};

export const pairsOf = (headers: HeaderList): [name: string, value: string][] => {
  const pairs: [string, string][] = [];
  for (let i = 0; i + 1 < headers.length; i += 2) pairs.push([headers[i] ?? '', headers[i + 1] ?? '']);
  return pairs;
};

/** The value of a header as one text, however often it came. */
export const headerText = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'string' || value === undefined ? value : value.join(', ');
