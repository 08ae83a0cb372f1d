import { configureGlobal, readConfigureGlobal } from 'fast-check';

/** That a property fails is enough to know; which case is the smallest is not asked. */
configureGlobal({ ...readConfigureGlobal(), endOnFailure: true });
