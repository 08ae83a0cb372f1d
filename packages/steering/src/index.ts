export { openSteering, type SteeringParts } from './open-steering.ts';
export type { HeldCall, NamedBreakpoint, OutgoingCall, SteeredCall, SteeredHome, Steering } from './types.ts';
