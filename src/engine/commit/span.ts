import type { Span, Tracer } from '../../lib/tracer.ts'
import type { FlushEntry } from './flush/decide.ts'

/** The most requests that the span of a commit links to: OpenTelemetry's default limit of links in a span. */
const linkLimit = 128

/**
 * Starts the span of a flush. The span of a single request is its parent; for several requests the flush has a trace of
 * its own, with links to their spans.
 */
export function startCommitSpan(tracer: Tracer, kind: 'group' | 'apart', entries: readonly FlushEntry[]): Span {
  const spans = entries.flatMap(({ commands }) => commands.flatMap(({ span }) => span ?? []))
  const commands = entries.reduce((sum, { commands }) => sum + commands.length, 0)
  return tracer.start('commit', {
    kind: 'client',
    ...(spans.length === 1 ? { parent: spans[0] } : { links: spans.slice(0, linkLimit) }),
    facts: {
      'db.system.name': 'postgresql',
      'parley.commit.kind': kind,
      'parley.commit.commands': commands,
      'parley.commit.apps': entries.length,
    },
  })
}
