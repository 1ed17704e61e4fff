import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { repairs } from '../../src/postgres/driver/repair-postgres.ts'
import { findRuntimeFault } from '../../src/postgres/driver/runtime.ts'

test('what npm install has made runs', () => {
  expect(findRuntimeFault()).toBeNull()
})

test('another Node.js is refused with a sentence that says how to get the right one', () => {
  expect(findRuntimeFault('24.1.0')).toMatch(/Node.js 22, and this is Node.js 24.1.0.*npm start/)
})

test('a driver without its repairs is refused with a sentence that says how to make them', () => {
  const modules = mkdtempSync(join(tmpdir(), 'parley-modules-'))
  cpSync(join(import.meta.dirname, '../../node_modules/postgres/src'), join(modules, 'postgres/src'), {
    recursive: true,
  })
  const { file, from, to } = repairs[0]!
  const path = join(modules, file)
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace(to, () => from),
  )

  const fault = findRuntimeFault(process.versions.node, modules)

  rmSync(modules, { recursive: true })
  expect(fault).toContain('npm run postinstall')
})
