/** What stands where a secret was taken out; with a label, equal secrets can be told from others. */
export const placeholder = (rule: string, label: string | null): string =>
  label === null ? `[redacted:${rule}]` : `[redacted:${rule}#${label}]`;

const PLACEHOLDER = /\[redacted:[A-Za-z0-9_.-]{1,64}(?:#[0-9a-f]{12})?\]/gu;

/** True for a text in which nothing but placeholders could be a secret: it is not redacted again. */
export const holdsOnlyPlaceholders = (text: string): boolean =>
  text.includes('[redacted:') && !/[\p{L}\p{N}]/u.test(text.replace(PLACEHOLDER, ''));
