import type { z } from 'zod'
import { Encoded, type Scalars } from '../../api/json.ts'
import type { Contract } from '../route.ts'
import { describeApi } from './openapi.ts'

/** Replaces the schemas of integers in either form by those of one form. */
function inForm(scalars: Scalars): (key: string, value: unknown) => unknown {
  return (_, value) => {
    const { type, pattern, ...rest } = (value ?? {}) as { type?: unknown; pattern?: unknown }
    if (!Array.isArray(type) || type.length !== 2 || type[0] !== 'string' || type[1] !== 'integer') return value
    return scalars === 'number' ? { type: 'integer', ...rest } : { type: 'string', pattern, ...rest }
  }
}

/** The OpenAPI description of the server's routes, and of what webhooks are sent. It is made when it is first asked for, and kept. */
export class ApiDescription {
  readonly #routes: () => readonly Contract[]
  readonly #version: string
  readonly #payloads: () => Readonly<Record<string, z.ZodType>>
  #document: Promise<object> | undefined
  readonly #json = new Map<Scalars | undefined, Promise<Encoded>>()

  constructor(
    routes: () => readonly Contract[],
    version: string,
    payloads: () => Readonly<Record<string, z.ZodType>> = () => ({}),
  ) {
    this.#routes = routes
    this.#version = version
    this.#payloads = payloads
  }

  get document(): Promise<object> {
    this.#document ??= describeApi(this.#routes(), this.#version, this.#payloads())
    return this.#document
  }

  /** The document as JSON. With `scalars`, integers in answers have the one form that these stand for, and not both. */
  json(scalars?: Scalars): Promise<Encoded> {
    const made = this.#json.get(scalars) ?? this.#write(scalars)
    this.#json.set(scalars, made)
    return made
  }

  async #write(scalars: Scalars | undefined): Promise<Encoded> {
    return new Encoded(JSON.stringify(await this.document, scalars && inForm(scalars)))
  }
}
