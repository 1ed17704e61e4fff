import type { Representation } from '../route.ts'

export interface RepresentationChoice {
  form: Representation
  /** Asked for by Prefer, so that the answer says that it was heard. */
  isPreferred: boolean
}

const asNumbers = /(?:^|[,;\s])scalars\s*=\s*"?number"?\s*(?:$|[,;])/i
const whole = /(?:^|&)out=(details|summary)(?:&|$)/

const plain: RepresentationChoice = {
  form: { scalars: 'string', items: 'summary', inner: 'first' },
  isPreferred: false,
}

/**
 * The representation that a request asks for: `prefer` is its Prefer header, `source` the header of the UI kit, which
 * gets numbers, whole items and all that is in them without asking; `out` of the query overrides the items. Absent ones
 * are empty.
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
