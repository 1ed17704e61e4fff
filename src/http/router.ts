/** The router's answer: what the path leads to with the values of its `{names}`, or the methods that it does have. */
export type Match<Target> = { target: Target; values: string[] } | { allowed: string[] }

interface Branch<Target> {
  fixed: Map<string, Branch<Target>>
  any: Branch<Target> | null
  targets: Map<string, Target>
}

/**
 * Path templates and methods → targets. A fixed segment goes before a `{name}`, and where it leads nowhere the `{name}`
 * is tried as well. Costs one look-up a segment, however many routes there are.
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
    const segments = path.split('/')
    if (path.includes('%') && !decodeAll(segments)) return { allowed: [] }
    const values: string[] = []
    const allowed = new Set<string>()
    const target = walk(this.#root, { method, segments, values, allowed }, 1)
    return target === undefined ? { allowed: [...allowed] } : { target, values }
  }
}

/** The names in a template, in order: `/api/apps/{app}` → `['app']`. */
export function namesOf(template: string): string[] {
  return Array.from(template.matchAll(/\{(\w+)\}/g), match => match[1]!)
}

interface Search {
  method: string
  segments: string[]
  values: string[]
  allowed: Set<string>
}

function walk<Target>(branch: Branch<Target>, search: Search, depth: number): Target | undefined {
  const segment = search.segments[depth]
  if (segment === undefined) {
    const target = branch.targets.get(search.method)
    if (target === undefined) for (const method of branch.targets.keys()) search.allowed.add(method)
    return target
  }
  const fixed = branch.fixed.get(segment)
  const target = fixed && walk(fixed, search, depth + 1)
  if (target !== undefined || branch.any === null || segment === '') return target
  search.values.push(segment)
  const found = walk(branch.any, search, depth + 1)
  if (found === undefined) search.values.pop()
  return found
}

/** In place. False where a segment is not valid percent-encoding, or holds NUL, which no name does. */
function decodeAll(segments: string[]): boolean {
  try {
    for (let i = 0; i < segments.length; i++) segments[i] = decodeURIComponent(segments[i]!)
  } catch {
    // A URIError: such a path names nothing.
    return false
  }
  return !segments.some(segment => segment.includes('\0'))
}

function createBranch<Target>(): Branch<Target> {
  return { fixed: new Map(), any: null, targets: new Map() }
}
