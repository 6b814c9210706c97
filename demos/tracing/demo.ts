/** `pnpm demo tracing`: the OpenTelemetry spans of one call, as a tree. */
import { callSubject, findScript } from '@mrtr/comparison/calls';
import type { DrawnDemo, Screen } from '@mrtr/comparison/demo';
import { loadOption } from '@mrtr/comparison/options';
import { traceMrtr } from '@mrtr/otel';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type TimedEvent,
} from '@opentelemetry/sdk-trace-base';

type Paint = Screen['paint'];

/** Makes a call of two rounds with tracing on, and prints its spans. */
export const demo: DrawnDemo = {
  async draw({ paint, print }) {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const stop = traceMrtr(provider.getTracer('demo'));
    const metric = findScript('metric');
    await callSubject({
      ...{ subject: await loadOption('f'), client: 'modern', hosting: 'memory', legacy: 'degrade' },
      ...{ call: metric.call, user: metric.user() },
    });
    stop();
    print(treeOf(exporter.getFinishedSpans(), paint));
  },
};

/** Spans as a tree, each with its events in order. Leaves out times and ids, which differ from run to run. */
function treeOf(spans: readonly ReadableSpan[], paint: Paint, parent?: string): string[] {
  const siblings = spans.filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent);
  return siblings.flatMap((span, at) => {
    const children = treeOf(spans, paint, span.spanContext().spanId);
    const heading = `${paint('title', span.name)}  ${paint('quiet', describeSpan(span))}`;
    if (parent === undefined) return [` ${heading}`, ...children];
    const [branch, trunk] = at === siblings.length - 1 ? ['└─', '  '] : ['├─', '│ '];
    const events = span.events.map((event) => `   ${eventLine(event, paint)}`);
    return [
      ` ${paint('frame', branch)} ${heading}`,
      ...[...events, ...children].map((line) => ` ${paint('frame', trunk)}${line}`),
    ];
  });
}

const describeSpan = ({ attributes }: ReadableSpan) =>
  [attributes['mrtr.outcome'], attributes['mrtr.rounds'] && `${attributes['mrtr.rounds']} rounds`]
    .filter(Boolean)
    .join(' · ');

function eventLine({ name, attributes = {} }: TimedEvent, paint: Paint) {
  const values = Object.entries(attributes).map(([key, value]) => `${key.slice('mrtr.'.length)}=${value}`);
  return `${paint('effect', name.padEnd(12))}  ${values.join('  ')}`;
}
