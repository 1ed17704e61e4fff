import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findRuntimeFault } from '../../src/postgres/driver/runtime.ts'

test('what npm install has made runs', () => {
  expect(findRuntimeFault()).toBeNull()
})

test('another Node.js is refused with a sentence that says how to get the right one', () => {
  expect(findRuntimeFault('24.1.0')).toMatch(/Node.js 22, and this is Node.js 24.1.0.*npm start/)
})

test.each([
  ['connection.js', '    , tried = 0\n'],
  ['index.js', '          ? q.reject(lost)\n'],
])('a driver whose %s lacks one of its repairs is refused with a sentence that says how to make them', (file, line) => {
  const root = mkdtempSync(join(tmpdir(), 'parley-install-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  const path = join(root, 'node_modules/postgres/src')
  cpSync(join(import.meta.dirname, '../../node_modules/postgres/src'), path, { recursive: true })
  const repaired = readFileSync(join(path, file), 'utf8')
  expect(findRuntimeFault(process.versions.node, root)).toBeNull()

  writeFileSync(join(path, file), repaired.replace(line, ''))

  expect(findRuntimeFault(process.versions.node, root)).toContain('npm run postinstall')
})
