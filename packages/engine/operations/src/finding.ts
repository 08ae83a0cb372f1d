/** One thing that should be looked at. */
export type Finding = { readonly level: 'note' | 'warning' | 'error'; readonly message: string };
