/** Nodes and implicit cores in document order: a core comes just before its first block. */
export const codeOfNode = (index: number): number => 2 * index + 1;
export const codeOfCore = (firstBlock: number): number => 2 * firstBlock;
export const isCore = (code: number): boolean => code % 2 === 0;
/** The node, or the first block of the core. */
export const indexOfCode = (code: number): number => code >> 1;
