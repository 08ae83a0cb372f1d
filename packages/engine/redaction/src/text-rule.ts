/** A secret in a text, by UTF-16 units, and the rule that found it. */
export type Span = { readonly start: number; readonly end: number; readonly rule: string };

/** Finds secrets in a text. The time grows with the length of the text, whatever the patterns are. */
export type TextRule = (text: string) => readonly Span[];
