import { toError, toResult } from '../../../agents/tools/result.ts'
import { searchToolName, type BoundTool } from '../../../agents/tools/tool.ts'
import type { Sql } from '../../../postgres/sql.ts'
import { searchPassages } from './search.ts'
import { listUnread } from './store.ts'

/** The search in an agent's knowledge, as a tool of its runs. */
export function toSearchTool(sql: Sql, agent: number): BoundTool {
  return {
    kind: 'search',
    name: searchToolName,
    description: 'Searches the files that you know for some words, and gives the best passages. Cite them as [n].',
    parameters: {
      type: 'object',
      properties: { query: { type: 'string', description: 'A few words that the files are likely to hold' } },
      required: ['query'],
    },
    isRepeatable: true,
    approval: null,
    async call({ query }, { passages }) {
      if (typeof query !== 'string' || query.trim() === '') return toError('query must be a text.')
      const found = await searchPassages(sql, agent, query)
      const rest = toUnread(await listUnread(sql, agent))
      if (found.length === 0) return toResult(['Nothing was found.', ...rest].join('\n\n'))
      const texts = found.map(({ name, place, text }, index) => {
        const title = place === null ? name : `${name}, ${place}`
        return `[${passages + index + 1}] ${title}\n${text}`
      })
      return { ...toResult([...texts, ...rest].join('\n\n')), passages: found.map(({ file }) => ({ file })) }
    },
  }
}

/** What the model must know of files that were not searched: nothing found in them does not mean that nothing is there. */
function toUnread({ files, count }: Awaited<ReturnType<typeof listUnread>>): string[] {
  if (count === 0) return []
  const named = files.map(({ name, error }) => `${name} (${error ?? 'It is still to be read.'})`)
  const others = count > files.length ? ` and ${count - files.length} more` : ''
  return [`Not searched: ${named.join(', ')}${others}`]
}
