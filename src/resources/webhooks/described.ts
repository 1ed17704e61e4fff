import { z } from 'zod'
import { Int } from '../../api/shape.ts'
import type { EventTypes } from '../../engine/catch-up.ts'
import { ActorRef, UserSummary } from '../users/schema.ts'

/** Members that no payload has: receivers read texts through the API, with the credential of a user who may. */
const leftOut = ['text', 'html', 'plain', 'args']

/** The schemas of what webhooks are sent, by trigger: the members of each action, beside those of all. */
export function describePayloads(events: EventTypes): Record<string, z.ZodType> {
  const sent = new SentSchemas()
  const byTrigger = Map.groupBy(events.values(), ({ trigger }) => trigger)
  const schemas: Record<string, z.ZodType> = {}
  for (const [trigger, types] of byTrigger) {
    if (trigger === undefined) continue
    const payloads = types.map(({ type, payload, schema }) =>
      z.object({ id: Int, action: z.literal(type), actor: ActorRef, ...sent.ofObject(payload ?? schema!).shape }),
    )
    const [first, ...others] = payloads
    schemas[trigger] = others.length === 0 ? first! : z.discriminatedUnion('action', [first!, ...others])
  }
  return schemas
}

/** Schemas as payloads have them: without texts, and with people in the short form. */
class SentSchemas {
  readonly #made = new Map<z.ZodType, z.ZodType>([[UserSummary, ActorRef]])

  ofObject(schema: z.ZodObject): z.ZodObject {
    return this.#of(schema) as z.ZodObject
  }

  #of(schema: z.ZodType): z.ZodType {
    const made = this.#made.get(schema) ?? this.#make(schema)
    this.#made.set(schema, made)
    return made
  }

  #make(schema: z.ZodType): z.ZodType {
    if (schema instanceof z.ZodObject) return this.#makeObject(schema)
    if (schema instanceof z.ZodArray)
      return this.#around(schema, [schema.element as z.ZodType], ([one]) => z.array(one!))
    if (schema instanceof z.ZodOptional)
      return this.#around(schema, [schema.unwrap() as z.ZodType], ([one]) => one!.optional())
    if (schema instanceof z.ZodUnion) return this.#around(schema, schema.options as z.ZodType[], all => z.union(all))
    return schema
  }

  /** The schema itself where its parts stay as they are. */
  #around(schema: z.ZodType, parts: z.ZodType[], make: (sent: z.ZodType[]) => z.ZodType): z.ZodType {
    const sent = parts.map(part => this.#of(part))
    return sent.every((part, i) => part === parts[i]) ? schema : make(sent)
  }

  #makeObject(schema: z.ZodObject): z.ZodObject {
    const members = Object.entries(schema.shape as Record<string, z.ZodType>)
    const kept = members
      .filter(([name]) => !leftOut.includes(name))
      .map(([name, one]) => [name, this.#of(one)] as const)
    if (kept.length === members.length && kept.every(([name, one]) => one === schema.shape[name])) return schema
    const sent = z.object(Object.fromEntries(kept))
    const id = schema.meta()?.id
    return id === undefined ? sent : sent.meta({ id: `Sent${id}` })
  }
}
