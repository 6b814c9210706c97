/**
 * The tool in one option's shape and one version, as a server. Another process loads it as
 * `subject.ts?shape=f&change=reworded`. Each such URL is a module of its own.
 */

import type { Change } from '@mrtr/comparison/claims';
import {
  findOption,
  type ListedOption,
  type LoadedOption,
  loadOption,
  type OptionDeps,
} from '@mrtr/comparison/options';
import { serveOutline } from '../outlines/index.ts';
import { outlineOf, policyVersion } from './versioned-tool.ts';

export const ORDER = 'order';

export const deploy = (option: LoadedOption, change: Change) => ({
  create: (deps: OptionDeps) => serveOutline(option, deps, ORDER, outlineOf(change, deps.world)),
});

/** The version of an option's tool after a change: the module for another process, and the policy's `version`. */
export const versionOf = ({ id }: Pick<ListedOption, 'id'>, change: Change) => ({
  module: new URL(`./subject.ts?shape=${id}&change=${change}`, import.meta.url).href,
  version: policyVersion(change),
});

const { searchParams } = new URL(import.meta.url);
const [shape, change] = [searchParams.get('shape'), searchParams.get('change')];
const listed = shape === null ? undefined : findOption(shape);

/** @public another process loads the subject that this module's URL names. */
export const option = listed && deploy(await loadOption(listed), change as Change);
