import type { Form } from '../route.ts'

export interface FormChoice {
  form: Form
  /** Asked for by Prefer, so that the answer says that it was heard. */
  isPreferred: boolean
}

const asNumbers = /(?:^|[,;\s])scalars\s*=\s*"?number"?\s*(?:$|[,;])/i
const whole = /(?:^|&)out=(details|summary)(?:&|$)/

const plain: FormChoice = {
  form: { scalars: 'string', items: 'summary', inner: 'first' },
  isPreferred: false,
}

/**
 * The representation that a request asks for: `prefer` is its Prefer header, `source` the header of the UI kit, which
 * gets numbers, whole items and all that is in them without asking; `out` of the query overrides the items. Absent ones
 * are empty.
 */
export function chooseForm(prefer: string, source: string, query: string): FormChoice {
  if (prefer === '' && source === '' && query === '') return plain
  const isPreferred = prefer !== '' && asNumbers.test(prefer)
  const out = whole.exec(query)?.[1] as Form['items'] | undefined
  const form: Form = {
    scalars: isPreferred || source !== '' ? 'number' : 'string',
    items: out ?? (source === '' ? 'summary' : 'details'),
    inner: source === '' ? 'first' : 'all',
  }
  return { form, isPreferred }
}
