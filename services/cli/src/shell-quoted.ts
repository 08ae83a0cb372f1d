/** A text in quotation marks, as a shell takes it. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
