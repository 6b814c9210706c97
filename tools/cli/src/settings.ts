/** The settings of a demo. */
import type { Change } from '@mrtr/comparison/claims';
import type { Database } from './database.ts';

export interface Settings {
  readonly tool: 'weather' | 'work-item';
  readonly client: 'modern' | 'legacy' | 'modern-only';
  readonly hosting: 'memory' | 'fleet';
  readonly answer: 'metric' | 'imperial' | 'decline' | 'cancel' | 'nonsense' | 'ask';
  readonly legacy: 'shim' | 'degrade';
  /** A drawing for the terminal, the transcript, or the transcript as a Mermaid diagram. */
  readonly format: 'drawing' | 'json' | 'mermaid';
  /** The letter of the one shape to show; undefined for all. */
  readonly shape?: string | undefined;
  readonly deploy?: Change | undefined;
  /** The database for the calls of option H; undefined for this process's memory. */
  readonly database?: Database | undefined;
}
