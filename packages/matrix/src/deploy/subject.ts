/**
 * The tool in one option's shape and one version, as a server. Another process loads it as
 * `subject.ts?shape=f&change=reworded`: each address is a module of its own.
 */
import type { OptionDeps, RunningOption } from '@mrtr/option';
import type { Change } from '@mrtr/option/deploys';
import { findOption, type LoadedOption, loadOption } from '@mrtr/options';
import { z } from 'zod';
import { CHANGES, scriptOf } from './code/code.ts';

export const ORDER = 'order';

export const deploy = (option: LoadedOption, change: Change) => ({
  create(deps: OptionDeps): RunningOption {
    const { serverForScripts, ...running } = option.create(deps);
    if (!serverForScripts)
      throw new Error(`Option ${option.id} writes no scripts. Give its handlers a \`write\`.`);
    const script = scriptOf(CHANGES[change], deps.world);
    return {
      ...running,
      server: () =>
        serverForScripts((server, write) => {
          server.registerTool(ORDER, { inputSchema: z.object({}) }, write(script) as never);
        }),
    };
  },
});

const { searchParams } = new URL(import.meta.url);
const [shape, change] = [searchParams.get('shape'), searchParams.get('change')];
const listed = shape === null ? undefined : findOption(shape);

/** @public another process loads it: the subject that the module's address names. */
export const option = listed && deploy(await loadOption(listed), change as Change);
