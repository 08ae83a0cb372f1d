export { openSteering, type SteeringParts } from './open-steering.ts';
export { mayChangeSteering, renewSteeringVersion, steeringVersion } from './steering-version.ts';
export type {
  CallChange,
  HeldCall,
  MessageEdit,
  NamedBreakpoint,
  OutgoingCall,
  SteeredCall,
  SteeredHome,
  Steering,
} from './types.ts';
