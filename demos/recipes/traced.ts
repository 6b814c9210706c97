/** OpenTelemetry spans of every call: one for the call, and one for each of its rounds. */
import { traceMrtr } from '@mrtr/otel';
import { BasicTracerProvider, SimpleSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';

/** Traces all protected servers of this process, until the returned function is called. */
export function traceTo(exporter: SpanExporter): () => void {
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  // With an OpenTelemetry SDK that is set up for the whole application, `traceMrtr()` is enough.
  return traceMrtr(provider.getTracer('deployer'));
}
