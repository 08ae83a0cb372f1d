/**
 * Values that the user says may differ. A pattern is a regular expression of literals, classes, groups, `|`, `*`, `+`, `?` and
 * `{m,n}`, without back references and look-around; it matches at most 256 characters.
 */
export type Mask = {
  readonly name: string;
  readonly pattern: string;
  /** Where it holds: the role of messages, or `any`. */
  readonly in: 'any' | 'system' | 'user' | 'assistant' | 'tool' | 'parameters';
};
