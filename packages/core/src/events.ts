/** `@mrtr/core/events`: what happens in a call, over `node:diagnostics_channel`. */

export {
  type AnswerEvent,
  type AskEvent,
  bindRounds,
  type ChannelName,
  type EffectEvent,
  type HandlerEvent,
  observe,
  publish,
  type RoundEvent,
  type StateEvent,
} from './wire/diagnostics.ts';
