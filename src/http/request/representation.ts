import type { Representation } from '../route.ts'

export interface RepresentationChoice {
  form: Representation
  /** True where the Prefer header chose it, which the answer then confirms (RFC 7240, section 3). */
  isPreferred: boolean
}

const asNumbers = /(?:^|[,;\s])scalars\s*=\s*"?number"?\s*(?:$|[,;])/i
const whole = /(?:^|&)out=(details|summary)(?:&|$)/

const plain: RepresentationChoice = {
  form: { scalars: 'string', items: 'summary', inner: 'first' },
  isPreferred: false,
}

/**
 * The representation that a request asks for: `prefer` is its Prefer header (RFC 7240); `source` the header of the UI
 * kit, which always gets numbers and whole items; `out` of the query overrides the items. Absent ones are empty.
 */
export function chooseRepresentation(prefer: string, source: string, query: string): RepresentationChoice {
  if (prefer === '' && source === '' && query === '') return plain
  const isPreferred = prefer !== '' && asNumbers.test(prefer)
  const out = whole.exec(query)?.[1] as Representation['items'] | undefined
  const form: Representation = {
    scalars: isPreferred || source !== '' ? 'number' : 'string',
    items: out ?? (source === '' ? 'summary' : 'details'),
    inner: source === '' ? 'first' : 'all',
  }
  return { form, isPreferred }
}
