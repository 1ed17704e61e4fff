import { z } from 'zod'
import type { AccessLogging } from '../../http/server/access-log.ts'
import type { LogFormat } from '../../lib/log-text.ts'
import { integer, logLevel, plainUrl, secret, setting, share, text } from '../setting.ts'

/** How a node is watched and stopped. */
export const operationSettings = {
  drainSeconds: setting(
    'DRAIN_SECONDS',
    '20',
    integer(1, 600),
    'Time to finish what was begun when the node is stopped',
  ),
  drainDelaySeconds: setting(
    'DRAIN_DELAY_SECONDS',
    '0',
    integer(0, 600),
    'Time before that in which a node that is stopped goes on as before, and /ready says that it is about to stop',
  ),
  drainQuietMs: setting(
    'DRAIN_QUIET_MS',
    '1000',
    integer(0, 60_000),
    'Time without a request after which a node that is stopped ends connections that are still open, in ms',
  ),
  metricsToken: setting(
    'METRICS_TOKEN',
    null,
    secret(text.regex(/^[\w.~+/=-]{16,256}$/, 'must have at least 16 characters, without spaces')),
    'Bearer token that /metrics asks for; without it, they are public',
  ),
  otlpEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    null,
    plainUrl,
    'OpenTelemetry collector that traces are sent to, as in http://localhost:4318; without it, nothing is traced',
  ),
  otlpHeaders: setting(
    'OTEL_EXPORTER_OTLP_HEADERS',
    null,
    secret(text.refine(areHeaders, 'must be name=value pairs, separated by commas, with values percent-encoded')),
    'Headers for that collector, as in authorization=Bearer%20abc',
  ),
  otelServiceName: setting('OTEL_SERVICE_NAME', 'parley', text, 'What traces call this deployment'),
  otelRatio: setting(
    'OTEL_TRACES_SAMPLER_ARG',
    '1',
    share,
    'Share of the traces that are kept, from 0 to 1; where a request says whether its trace is kept, that counts',
  ),
  accessLog: setting(
    'ACCESS_LOG',
    'off',
    z.enum(['off', 'sampled', 'all'] satisfies AccessLogging[], 'must be off, sampled or all'),
    'Whether requests are logged: all, or failures (5xx) and one in a hundred of the others',
  ),
  logLevel: setting('LOG_LEVEL', 'info', logLevel, 'The least level that is logged: debug, info, warn, error'),
  logFormat: setting(
    'LOG_FORMAT',
    'auto',
    z.enum(['auto', 'json', 'text'] satisfies LogFormat[], 'must be auto, json or text'),
    'Form of the log: json, text for people, or auto, which is text on a terminal and JSON elsewhere',
  ),
  apiVersion: setting(
    'VERSION',
    '32.1.0',
    text.regex(/^\d+\.\d+\.\d+/, 'must look like 1.2.3'),
    'The version of the API, as /version answers it',
  ),
} as const

function areHeaders(text: string): boolean {
  return text.split(',').every(pair => /^\s*[\w.-]+=[!-~]*\s*$/.test(pair) && !/%(?![0-9a-f]{2})/i.test(pair))
}
