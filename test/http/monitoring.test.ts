import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { redisIsMissing, startRedis } from '../support/redis.ts'
import { startServer } from '../support/server.ts'

const folder = join(import.meta.dirname, '../../docs/monitoring')

interface Rules {
  groups: { rules: { alert: string; expr: string; for: string; annotations: { summary: string } }[] }[]
}

interface Dashboard {
  panels: { id: number; title: string; gridPos: { x: number; y: number }; targets: { expr: string }[] }[]
}

/** Name of a figure → counter, gauge, histogram or summary, as a node with everything configured gives them. */
let kinds: Map<string, string>

beforeAll(async () => {
  if (redisIsMissing !== null) return
  await using redis = await startRedis()
  await using server = await startServer({ REDIS_URL: redis.url })
  const { body } = await server.admin.get('/metrics')
  kinds = new Map([...(body as string).matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name, kind]) => [name!, kind!]))
})

test.skipIf(redisIsMissing !== null)('every figure that an alert is about exists', () => {
  const { groups } = parse(readFileSync(join(folder, 'alerts.yml'), 'utf8')) as Rules
  const rules = groups.flatMap(group => group.rules)

  const names = rules.flatMap(({ expr }) => namesIn(expr))

  expect(names.filter(name => kindOf(name) === undefined)).toEqual([])
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
  expect(
    rules.filter(
      ({ expr, annotations }) => namesIn(expr).length + Number(expr.startsWith('up{')) === 0 || !annotations.summary,
    ),
  ).toEqual([])
})

test.skipIf(redisIsMissing !== null)(
  'every figure that the dashboard shows exists, each panel in a place of its own',
  () => {
    const { panels } = JSON.parse(readFileSync(join(folder, 'grafana.json'), 'utf8')) as Dashboard

    const names = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => namesIn(expr)))

    expect(names.length).toBeGreaterThan(panels.length)
    expect(names.filter(name => kindOf(name) === undefined)).toEqual([])
    expect(new Set(panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)).size).toBe(panels.length)
  },
)

test.skipIf(redisIsMissing !== null)('rates are taken of what only grows', () => {
  const texts = ['alerts.yml', 'grafana.json'].map(file => readFileSync(join(folder, file), 'utf8'))
  const rated = texts.flatMap(text => [...text.matchAll(/\b(?:rate|increase)\((\w+)/g)].map(([, name]) => name!))

  expect(rated.filter(name => kindOf(name) !== 'counter' && kindOf(name) !== 'histogram')).toEqual([])
  expect(rated.length).toBeGreaterThan(10)
})

test.skipIf(redisIsMissing !== null)(
  'figures are named as Prometheus asks: counters end in _total, times in _seconds, sizes in _bytes',
  () => {
    const own = [...kinds].filter(([name]) => /^(parley|http)_/.test(name))

    expect(own.filter(([name, kind]) => (kind === 'counter') !== name.endsWith('_total'))).toEqual([])
    expect(own.filter(([name]) => /_(ms|millis|kb|mb|minutes)(_|$)/.test(name))).toEqual([])
  },
)

/** The names of figures in an expression. */
function namesIn(expr: string): string[] {
  return [...expr.matchAll(/\b(?:parley|http|process|nodejs)_[a-z0-9_]+/g)].map(([name]) => name)
}

/** That of the figure that a sample belongs to: a histogram has samples of three names. */
function kindOf(name: string): string | undefined {
  return kinds.get(name) ?? kinds.get(name.replace(/_(bucket|sum|count)$/, ''))
}
