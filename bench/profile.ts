import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[]
  samples: number[]
  timeDeltas: number[]
}

const shown = 30

/** Prints for each CPU profile of a folder the functions in which the most time was spent. */
export function describeProfiles(dir: string): void {
  for (const file of globSync('*.cpuprofile', { cwd: dir }).sort()) {
    const lines = describe(JSON.parse(readFileSync(join(dir, file), 'utf8')) as Profile)
    process.stdout.write(`\n${file}\n${lines.join('\n')}\n`)
  }
}

function describe({ nodes, samples, timeDeltas }: Profile): string[] {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]))
  const spentMs = new Map<string, number>()
  for (const [at, id] of samples.entries()) {
    const name = names.get(id)!
    spentMs.set(name, (spentMs.get(name) ?? 0) + timeDeltas[at]! / 1000)
  }
  const busy = [...spentMs].filter(([name]) => name !== '(idle)')
  const total = busy.reduce((sum, [, ms]) => sum + ms, 0)
  return busy
    .sort(([, a], [, b]) => b - a)
    .slice(0, shown)
    .map(([name, ms]) => `${((ms / total) * 100).toFixed(1).padStart(5)} %  ${ms.toFixed(0).padStart(6)} ms  ${name}`)
}

function nameOf({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const path = url.startsWith('file:') ? relative(join(import.meta.dirname, '..'), fileURLToPath(url)) : url
  return `${functionName || '(anonymous)'}${path === '' ? '' : `  ${path}:${lineNumber + 1}`}`
}
