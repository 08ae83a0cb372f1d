/** What is said of a value that is no list of vectors. */
type Refusal = string;

/** More numbers than any embedding has. */
const MOST_DIMENSION = 65_536;

/**
 * The vectors in an answer in the form of OpenAI's embeddings API, in the order of the texts; else what is wrong with it.
 *
 * @param dimension the numbers that each vector must have; null: as many as the first one
 */
export const readEmbeddings = (
  answer: unknown,
  { texts, dimension }: { readonly texts: number; readonly dimension: number | null },
): readonly Float32Array[] | Refusal => {
  const data = fieldOf(answer, 'data');
  if (!Array.isArray(data)) return 'it holds no list `data`';
  if (data.length !== texts) return `${texts} were asked, ${data.length} came`;
  const vectors: (Float32Array | undefined)[] = Array.from({ length: texts });
  let expected = dimension;
  for (const [i, item] of (data as readonly unknown[]).entries()) {
    const index = fieldOf(item, 'index') ?? i;
    const numbers = fieldOf(item, 'embedding');
    if (typeof index !== 'number' || !Number.isInteger(index) || index < 0 || index >= texts)
      return `vector ${i + 1} is that of no text`;
    if (vectors[index] !== undefined) return `text ${index + 1} has two vectors`;
    if (!Array.isArray(numbers)) return `vector ${i + 1} is no list of numbers`;
    if (numbers.length === 0 || numbers.length > MOST_DIMENSION)
      return `vector ${i + 1} has ${numbers.length} numbers`;
    expected ??= numbers.length;
    if (numbers.length !== expected) return `vector ${i + 1} has ${numbers.length} numbers, not ${expected}`;
    const vector = Float32Array.from(numbers as readonly unknown[], (value) =>
      typeof value === 'number' ? value : Number.NaN,
    );
    const wrong = vector.findIndex((value) => !Number.isFinite(value));
    if (wrong !== -1)
      return `vector ${i + 1} holds a number that is not finite (number ${wrong + 1} of ${expected})`;
    vectors[index] = vector;
  }
  return vectors.filter((vector) => vector !== undefined);
};

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
