import type { Span, Tracer } from '../../lib/tracer.ts'
import type { Exchange } from './exchange.ts'

/**
 * Begins the span of a request, as a child of the caller's span where the request names one. Call it before the request
 * is freed.
 */
export function startRequestSpan(tracer: Tracer, exchange: Exchange): Span {
  const { method, path, id } = exchange
  return tracer.start(method, {
    kind: 'server',
    parent: exchange.header('traceparent'),
    facts: { 'http.request.method': method, 'url.path': path, 'parley.request.id': id },
  })
}

/** 499: the client went away before the answer. */
export function endRequestSpan(span: Span, { method, durations }: Exchange, status: number): void {
  const route = durations?.route || undefined
  if (route !== undefined) span.rename(`${method} ${route}`)
  span.add({ 'http.route': route, 'http.response.status_code': status })
  span.end(status >= 500 ? String(status) : undefined)
}
