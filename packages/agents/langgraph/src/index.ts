export { StemmaSaver, type StemmaSaverOptions } from './stemma-saver.ts';
