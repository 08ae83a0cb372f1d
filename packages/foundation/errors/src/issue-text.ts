/** What a schema found in a value, as zod gives it. */
type Issue = {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  /** Of a union: what each alternative found. */
  readonly errors?: readonly (readonly Issue[])[];
};

/** The first thing that a schema found: where, and in a sentence that names it. */
type IssueText = { readonly at: string; readonly sentence: string };

/**
 * The first issue in words: `steps.0.node is missing`, `actor: Too small: …`. Of a union it says what is wrong with the
 * alternative that the value looks most like.
 *
 * @param whole what the value is called: `the request`
 */
export const issueText = (issues: readonly Issue[], whole: string): IssueText => {
  const [issue] = issues;
  if (issue === undefined) return { at: whole, sentence: `${whole} does not have its shape` };
  const { path, message } = innermost(issue);
  const at = path.length === 0 ? whole : path.map(String).join('.');
  const isMissing = path.length > 0 && message.endsWith('received undefined');
  if (isMissing) return { at, sentence: `${at} is missing` };
  return { at, sentence: message.startsWith('must ') ? `${at} ${message}` : `${at}: ${message}` };
};

/** Goes into unions: to the alternative whose first issue lies deepest in the value, as the others fail at its outside. */
const innermost = (issue: Issue): Issue => {
  const alternatives = (issue.errors ?? []).flatMap(([first]) =>
    first === undefined ? [] : [innermost(first)],
  );
  const [first, ...others] = alternatives;
  if (first === undefined) return issue;
  const best = others.reduce((a, b) => (depthOf(b) > depthOf(a) ? b : a), first);
  // Every alternative wants another type: the message of one would hide the others.
  if (depthOf(best) === 0)
    return { ...issue, message: alternatives.map(({ message }) => message).join(', or ') };
  return { ...best, path: [...issue.path, ...best.path] };
};

/** A key that is not known lies inside the value, but its path ends outside. */
const depthOf = ({ path, code }: Issue): number => path.length + (code === 'unrecognized_keys' ? 0.5 : 0);
