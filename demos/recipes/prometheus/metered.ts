/** Metrics for Prometheus, which collects them at http://127.0.0.1:9464/metrics. */
import { measureMrtr } from '@mrtr/otel';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

/** Call it once, when the process starts. */
export function startMetrics(port = 9464): MeterProvider {
  const exporter = new PrometheusExporter({ host: '127.0.0.1', port });
  const provider = new MeterProvider({ readers: [exporter] });
  measureMrtr(provider.getMeter('@mrtr/otel'));
  return provider; // `shutdown` ends it
}
