type Part = Record<string, unknown>

/** From how many places on a part of the description is written once, and referred to. */
const shared = 3

interface Operation extends Part {
  parameters: Part[]
  responses: Record<string, Part>
}

interface Components {
  parameters: Record<string, Part>
  responses: Record<string, Part>
}

/**
 * Replaces parameters and responses that several operations have in common by references to components, which it adds: the
 * description is a third smaller, and a generated client has one type for each.
 */
export function share(paths: Record<string, Record<string, object>>, components: Components): void {
  const operations = Object.values(paths).flatMap(methods => Object.values(methods) as Operation[])
  const counts = new Map<string, number>()
  const count = (part: Part) => {
    const text = JSON.stringify(part)
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  for (const { parameters, responses } of operations) [...parameters, ...Object.values(responses)].forEach(count)

  const names = new Map<string, string>()
  const refer = (part: Part, kind: keyof Components, wanted: string): Part => {
    const text = JSON.stringify(part)
    if ('$ref' in part || counts.get(text)! < shared) return part
    const name = names.get(text) ?? free(wanted, components[kind])
    names.set(text, name)
    components[kind][name] = part
    return { $ref: `#/components/${kind}/${name}` }
  }
  for (const operation of operations) {
    operation.parameters = operation.parameters.map(part => refer(part, 'parameters', String(part.name)))
    for (const [status, response] of Object.entries(operation.responses))
      operation.responses[status] = refer(response, 'responses', status === 'default' ? 'Problem' : `Answer${status}`)
  }
}

function free(wanted: string, taken: Record<string, Part>): string {
  for (let i = 1; ; i++) {
    const name = i === 1 ? wanted : `${wanted}_${i}`
    if (!Object.hasOwn(taken, name)) return name
  }
}
