/** The result of a lookup: the target of the path and the values of its `{names}`, or the methods that the path has. */
export type Match<Target> = { target: Target; values: string[] } | { allowed: string[] }

interface Branch<Target> {
  fixed: Map<string, Branch<Target>>
  any: Branch<Target> | null
  targets: Map<string, Target>
}

/**
 * Maps path templates and methods to targets. A fixed segment is preferred to a `{name}`, which is tried where the
 * fixed one leads nowhere. Costs one map lookup per segment, however many routes there are.
 */
export class Router<Target> {
  readonly #root: Branch<Target> = createBranch()

  add(method: string, template: string, target: Target): void {
    let branch = this.#root
    for (const segment of template.split('/').slice(1)) {
      if (segment.startsWith('{')) {
        branch = branch.any ??= createBranch()
      } else {
        const next = branch.fixed.get(segment) ?? createBranch()
        branch.fixed.set(segment, next)
        branch = next
      }
    }
    if (branch.targets.has(method)) throw new Error(`${method} ${template} was declared twice`)
    branch.targets.set(method, target)
  }

  /** `path` begins with a slash and is percent-encoded; the values are decoded. */
  find(method: string, path: string): Match<Target> {
    const search: Search = { method, path, values: [], allowed: null }
    const target = walk(this.#root, search, 1)
    return target === undefined ? { allowed: [...(search.allowed ?? [])] } : { target, values: search.values }
  }
}

/** The names in a template, in order: `/api/apps/{app}` → `['app']`. */
export function namesOf(template: string): string[] {
  return Array.from(template.matchAll(/\{(\w+)\}/g), match => match[1]!)
}

interface Search {
  method: string
  path: string
  values: string[]
  /** The methods of the path, where it has a target but not for this method. */
  allowed: Set<string> | null
}

/** `start` is where the next segment begins; beyond the end of the path if there is none. */
function walk<Target>(branch: Branch<Target>, search: Search, start: number): Target | undefined {
  const { method, path, values } = search
  if (start > path.length) {
    const target = branch.targets.get(method)
    if (target === undefined) search.allowed = new Set([...(search.allowed ?? []), ...branch.targets.keys()])
    return target
  }
  const slash = path.indexOf('/', start)
  const end = slash === -1 ? path.length : slash
  const segment = decode(path.slice(start, end))
  if (segment === undefined) return undefined
  const fixed = branch.fixed.get(segment)
  const target = fixed && walk(fixed, search, end + 1)
  if (target !== undefined || branch.any === null || segment === '') return target
  values.push(segment)
  const found = walk(branch.any, search, end + 1)
  if (found === undefined) values.pop()
  return found
}

/** Undefined where the segment is not valid percent-encoding, or contains NUL, which no name does. */
function decode(segment: string): string | undefined {
  if (!segment.includes('%')) return segment
  try {
    const decoded = decodeURIComponent(segment)
    return decoded.includes('\0') ? undefined : decoded
  } catch {
    // A URIError: such a path names nothing.
    return undefined
  }
}

function createBranch<Target>(): Branch<Target> {
  return { fixed: new Map(), any: null, targets: new Map() }
}
