import type { Values } from '../../parts/form.tsx'
import { Refusal } from '../../server/refusal.ts'
import { texts } from '../../texts.ts'

/** A field that holds JSON, or nothing. Refuses what is neither, at the field, as the server would. */
export function readJson(values: Values, name: string): unknown {
  const text = values.text(name).trim()
  if (text === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    const errors = { [name]: [error instanceof Error ? error.message : texts.failure.unknown] }
    throw new Refusal(422, { title: texts.agents.notJson, errors }, '')
  }
}
