import { loadPeer } from '../peers/install.ts';
import { median, timed } from '../measure.ts';
import {
  BLOCKS_IN_CORE,
  BLOCKS_IN_HEAD,
  BLOCKS_IN_SYS,
  questions,
  shapeOf,
  type Answered,
  type Block,
  type SelectorInput,
} from './shape.ts';

type Element = { parent: Element | null; prev: Element | null; next: Element | null };
type Peer = {
  readonly Element: new (name: string, attributes: Record<string, string>, children?: Element[]) => Element;
};
type CssSelect = { readonly selectAll: (selector: string, root: Element) => readonly Element[] };

const treeOf = ({ Element: Make }: Peer, nodes: number): Element => {
  const { turns, block } = shapeOf(nodes);
  const element = (name: string, attributes: Record<string, string>, children: Element[] = []): Element => {
    const made = new Make(name, attributes, children);
    children.forEach((child, i) => {
      child.parent = made;
      child.prev = children[i - 1] ?? null;
      child.next = children[i + 1] ?? null;
    });
    return made;
  };
  const leaf = ({ id, role, ttl }: Block): Element =>
    element('cb', { id, role, kind: 'text', ...(ttl === null ? {} : { ttl: String(ttl) }) });
  const many = (count: number, place: string): Element[] =>
    Array.from({ length: count }, (_, n) => leaf(block(place, n)));
  const sys = element('sys', {}, many(BLOCKS_IN_SYS, 's'));
  const sealed = Array.from({ length: turns }, (_, i) => {
    const before = leaf(block(`p${i + 1}`, 0));
    const core = element('mc', { id: `m${i + 1}` }, many(BLOCKS_IN_CORE, `c${i + 1}`));
    // Its depth, which a selector of ours knows and one of CSS would count out for each turn anew.
    return element('mt', { id: `t${i + 1}`, depth: String(turns - i) }, [before, core]);
  });
  return element('root', {}, [sys, element('seq', {}, sealed), element('ah', {}, many(BLOCKS_IN_HEAD, 'h'))]);
};

/** The same question, in CSS, to elements of domhandler; the selector is compiled each time, as ours is read. */
export const askCssSelect = async ({ nodes, question, rounds }: SelectorInput): Promise<Answered> => {
  const root = treeOf(loadPeer('domhandler') as Peer, nodes);
  const { selectAll } = loadPeer('css-select') as CssSelect;
  const text = questions(shapeOf(nodes).turns)[question]!.css;
  const ask = (): readonly Element[] => selectAll(text, root);
  const { ms: cold, value } = await timed(ask);
  ask();
  const warm: number[] = [];
  for (let round = 0; round < rounds; round += 1) warm.push((await timed(ask)).ms);
  return { cold, warm: median(warm), found: value.length };
};
