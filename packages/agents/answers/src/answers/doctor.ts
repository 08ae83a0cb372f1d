import type { ContractAnswer } from '../answer.ts';
import { doctorAnswer } from '../doctor-answer.ts';

export const doctor: ContractAnswer<'doctor'> = async ({ examine, hider }) =>
  doctorAnswer(await examine(), hider);
