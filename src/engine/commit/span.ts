import type { Span, Tracer } from '../../lib/tracer.ts'
import type { FlushEntry } from './decide.ts'

/** Requests that the span of a commit names; OpenTelemetry keeps no more links of one span. */
const linkLimit = 128

/**
 * Begins the span of a flush: beneath the request that it is for, or where it is for several, in a trace of its own that
 * is linked to theirs.
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
