import { nearestName } from '../lib/text/resemblance.ts'

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

  /** A path that there is and that resembles one that there is not, in one segment; undefined where none does. */
  nearest(path: string): string | undefined {
    const segments = path.slice(1, longestCompared).split('/')
    const found = approach(this.#root, segments.at(-1) === '' ? segments.slice(0, -1) : segments, true)
    return found && `/${found.join('/')}`
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

/** Longer paths are compared as far as this. */
const longestCompared = 256

/** The segments of a path that leads somewhere; `mayDiffer`: one of them may be another than the given one. */
function approach<Target>(branch: Branch<Target>, segments: string[], mayDiffer: boolean): string[] | undefined {
  const [segment, ...rest] = segments
  if (segment === undefined) return branch.targets.size > 0 ? [] : undefined
  const near = mayDiffer ? nearestName(segment, branch.fixed.keys()) : undefined
  const ways: [string | undefined, Branch<Target> | null | undefined, boolean][] = [
    [segment, branch.fixed.get(segment), mayDiffer],
    [near, near === undefined ? undefined : branch.fixed.get(near), false],
    [segment, branch.any, mayDiffer],
  ]
  for (const [name, next, mayDifferThere] of ways) {
    const found = name === undefined || !next ? undefined : approach(next, rest, mayDifferThere)
    if (found !== undefined) return [name!, ...found]
  }
  return undefined
}

/**
 * Undefined where the segment is not valid percent-encoding, or contains NUL, which no name does; and for `.` and `..`,
 * which mean another path to clients and proxies.
 */
function decode(segment: string): string | undefined {
  if (segment === '.' || segment === '..') return undefined
  if (!segment.includes('%')) return segment
  try {
    const decoded = decodeURIComponent(segment)
    return decoded === '.' || decoded === '..' || decoded.includes('\0') ? undefined : decoded
  } catch {
    // A URIError: such a path names nothing.
    return undefined
  }
}

function createBranch<Target>(): Branch<Target> {
  return { fixed: new Map(), any: null, targets: new Map() }
}
