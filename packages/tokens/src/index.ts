export { ENCODING, loadTokenizer, type Tokenizer } from './tokenizer.ts';
